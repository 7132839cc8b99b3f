"""Models that look at pictures: what they see, which token is which patch, and pictures that are none."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import attention_core as ac
from attention_core.capture.pictures import Eye
from attention_core.capture.vision import ImageModel, make_seeing
from tests.core.capture_zoo import IMAGES, OTHERS, REFUSED, SIZES, Kind
from tests.core.test_capture_zoo import eager

SIDE = {"height": 16, "width": 16}
SETTINGS: dict[str, dict[str, Any]] = {
    "ViT": {"size": SIDE, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]},
    "DeiT": {"size": {"height": 19, "width": 19}, "crop_size": SIDE, "resample": 3},
    "Bit": {"size": {"shortest_edge": 18}, "crop_size": SIDE},
    "Beit": {"size": SIDE, "do_center_crop": False},
    "CLIP": {"size": {"shortest_edge": 16}, "crop_size": SIDE},
    "Siglip": {"size": SIDE},
}
SEEING = {
    "vit": ("ViT", OTHERS["vit"], ["[CLS]"], []),
    "deit": ("DeiT", OTHERS["deit"], ["[CLS]", "[DIST]"], []),
    "beit": ("Beit", OTHERS["beit"], ["[CLS]"], []),
    "dinov2": ("Bit", OTHERS["dinov2"], ["[CLS]"], []),
    "registers": (
        "Bit",
        Kind("Dinov2WithRegistersConfig", {**SIZES, **IMAGES, "num_register_tokens": 3}, reads="image"),
        ["[CLS]", "[REG0]", "[REG1]", "[REG2]"],
        [],
    ),
    "clip": ("CLIP", OTHERS["clip-vision"], ["[CLS]"], []),
    "siglip": ("Siglip", Kind("SiglipVisionConfig", {**SIZES, **IMAGES}, "SiglipVisionModel", "image"), [], []),
    "yolos": (
        "ViT",
        Kind("YolosConfig", {**SIZES, **IMAGES, "image_size": [16, 16], "num_detection_tokens": 5}, reads="image"),
        ["[CLS]"],
        ["[0]", "[1]", "[2]", "[3]", "[4]"],
    ),
}


def eye(way: str, **more: Any) -> Eye:
    return Eye({"image_processor_type": f"{way}ImageProcessor", **SETTINGS[way], **more})


def made(name: str) -> ImageModel:
    way, kind, _, _ = SEEING[name]
    return make_seeing(kind.make(), eye(way), name, "a test")


def picture(height: int = 37, width: int = 53) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)


def png(array: np.ndarray, kind: str = "PNG", **more: Any) -> bytes:
    file = BytesIO()
    Image.fromarray(array).save(file, kind, **more)
    return file.getvalue()


@pytest.mark.parametrize("name", SEEING)
def test_every_head_equals_eager_and_every_token_is_its_patch(name: str) -> None:
    way, kind, before, after = SEEING[name]
    trace = made(name).trace_image(picture())
    assert (trace.grid, trace.method, trace.text) == ((4, 4), "interface", "")
    patches = [f"r{i}c{j}" for i in range(4) for j in range(4)]
    assert [token.shown for token in trace.tokens] == [*before, *patches, *after]
    assert [token.shown for token in trace.tokens if not token.is_special] == patches
    library = getattr(transformers, f"{way}ImageProcessorPil")(**SETTINGS[way])
    wanted = eager(kind.make(), library(picture(), return_tensors="pt"))["self"]
    for layer, weights in zip(trace.layers, wanted, strict=True):
        for h in range(layer.n_heads):
            np.testing.assert_allclose(layer.weights(h), weights[h], atol=1e-5)
    assert trace.check(full=True).passed
    assert max(layer.weights(1).max() for layer in trace.layers) > 0.1


@pytest.mark.parametrize("way", SETTINGS)
def test_a_picture_is_prepared_as_the_library_does_it(way: str) -> None:
    seen, fed = eye(way).read(picture())
    library = getattr(transformers, f"{way}ImageProcessorPil")(**SETTINGS[way])
    torch.testing.assert_close(fed, library(picture(), return_tensors="pt")["pixel_values"], rtol=0, atol=1e-6)
    assert (seen.shape, seen.dtype) == ((16, 16, 3), np.uint8)
    mean, std = (torch.tensor(getattr(library, name)).view(3, 1, 1) for name in ("image_mean", "image_std"))
    shown = (torch.from_numpy(seen.copy()).movedim(2, 0) / 255 - mean) / std
    torch.testing.assert_close(shown, fed[0], rtol=0, atol=1e-5)


def test_names_that_older_checkpoints_give_are_known() -> None:
    named = {"feature_extractor_type": "ViTFeatureExtractor", **SETTINGS["ViT"], "size": 16}
    np.testing.assert_array_equal(Eye(named).read(picture())[0], eye("ViT").read(picture())[0])


def test_the_picture_beside_the_trace_is_the_one_that_was_seen() -> None:
    trace = made("vit").trace_image(np.full((40, 20, 3), (200, 100, 0), dtype=np.uint8))
    assert trace.image is not None
    assert (trace.image == (200, 100, 0)).all()
    assert trace.image.shape == (16, 16, 3)
    with pytest.raises(ValueError, match="read-only"):
        trace.image[0, 0, 0] = 1


def test_a_file_and_its_pixels_are_one_picture() -> None:
    model = made("vit")
    by_file, by_pixels = model.trace_image(png(picture())), model.trace_image(picture())
    np.testing.assert_array_equal(by_file.layers[1].q, by_pixels.layers[1].q)
    photograph = model.trace_image(png(picture(), "JPEG"))
    assert photograph.grid == (4, 4)
    assert np.abs(photograph.layers[1].q - by_pixels.layers[1].q).max() > 1e-3


def test_transparent_is_white_and_a_turned_photograph_upright() -> None:
    clear = np.zeros((16, 16, 4), dtype=np.uint8)
    assert (eye("ViT").read(png(clear))[0] == 255).all()
    half = np.zeros((16, 16, 3), dtype=np.uint8)
    half[:, 8:] = 255
    turned = Image.Exif()
    turned[0x0112] = 6  # Its right side was up.
    seen = eye("ViT").read(png(half, exif=turned))[0]
    assert seen[:8].max() < 128 <= seen[8:].min()


def test_the_card_says_what_the_model_is() -> None:
    card = made("registers").card
    assert (card.n_layers, card.n_heads, card.max_tokens, card.causal) == (2, 4, 20, False)
    assert card.details["tokenizer"] == "patches"
    assert card.details["kind"] == "real"
    assert card.details["largest_difference"] < 1e-4


def test_a_model_of_pictures_reads_no_text() -> None:
    model = made("vit")
    for read in (model.trace, model.tokenize):
        with pytest.raises(ac.UnsupportedModel, match="reads pictures"):
            read("the cat")


@pytest.mark.parametrize("name", ["q", "v", "x", "w_q"])
def test_a_trace_that_was_changed_fails_its_check(name: str) -> None:
    from dataclasses import replace

    trace = made("vit").trace_image(picture())
    layer = trace.layers[1]
    changed = replace(layer, **{name: getattr(layer, name) * np.float32(1.3)})
    assert trace.check().passed
    assert not replace(trace, layers=(trace.layers[0], changed)).check().passed
    assert not replace(trace, tokens=trace.tokens[1:]).check().passed


def test_tokens_that_are_no_patches_in_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.vit import modeling_vit

    cut = modeling_vit.ViTPatchEmbeddings.forward
    monkeypatch.setattr(
        modeling_vit.ViTPatchEmbeddings, "forward", lambda *a, **more: cut(*a, **more).flip(1).contiguous()
    )
    with pytest.raises(ac.UnsupportedModel, match="not the patches of the picture, row by row"):
        made("vit")


def test_windows_are_refused() -> None:
    with pytest.raises(ac.UnsupportedModel, match="windows"):
        make_seeing(REFUSED["swin"][0].make(), eye("ViT"), "swin", "")


def test_some_patches_left_out_by_chance_are_refused() -> None:
    kind = Kind("ViTMAEConfig", {**SIZES, **IMAGES}, "ViTMAEModel", "image")
    with pytest.raises((ac.UnsupportedModel, ac.TraceMismatch)):
        make_seeing(kind.make(), eye("ViT"), "mae", "")


def test_a_picture_of_a_size_that_the_network_does_not_take_is_refused() -> None:
    with pytest.raises((ac.UnsupportedModel, ValueError)):
        make_seeing(OTHERS["vit"].make(), eye("ViT", size={"height": 24, "width": 24}), "vit", "")
    model = make_seeing(OTHERS["dinov2"].make(), eye("Bit", do_center_crop=False), "dinov2", "")
    assert model.trace_image(picture(40, 80)).grid == (4, 9)  # This one takes any.
    narrow = make_seeing(OTHERS["vit"].make(), eye("CLIP", do_center_crop=False), "vit", "")
    with pytest.raises(ac.UnsupportedModel, match="4 × 8 patches"):
        narrow.trace_image(picture(40, 80))


def bomb(side: int) -> bytes:
    """A PNG of a few kilobytes that claims to be side × side."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(10**6))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (bomb(9_000), "81,000,000|9,000 × 9,000"),
        (bomb(11_000), "too large|11,000 × 11,000"),
        (bomb(60_000), "too large"),
        (png(np.zeros((300, 2, 3), dtype=np.uint8)), "less narrow"),
        (png(picture(99, 99))[:4000], "damaged"),
        (png(picture(), "JPEG")[:500], "damaged"),
        (b"", "no PNG or JPEG"),
        (b"\x89PNG\r\n\x1a\nnothing", "no PNG or JPEG"),
        (b"GIF89a" + bytes(99), "no PNG or JPEG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG or JPEG"),
        (png(picture(), "GIF"), "no PNG or JPEG"),
        (bytes(30_000_001), "30,000,001"),
        (np.zeros((5, 5), dtype=np.uint8), "no picture"),
        (np.zeros((5, 5, 3)), "no picture"),
        (np.zeros((0, 5, 3), dtype=np.uint8), "no picture"),
    ],
)
def test_what_is_no_picture_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(ac.UnfitPicture, match=said):
        eye("ViT").read(given)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"image_processor_type": "EvilProcessor"},
        {"image_processor_type": "AutoImageProcessor"},
        {"image_processor_type": "ViTImageProcessor", "size": {"height": 10**6, "width": 16}},
        {"image_processor_type": "ViTImageProcessor", "size": {"height": -3, "width": 16}},
        {"image_processor_type": "ViTImageProcessor", "size": "huge"},
        {"image_processor_type": "ViTImageProcessor", "resample": 99},
        {"image_processor_type": "ViTImageProcessor", "image_std": [0.1]},
    ],
)
def test_settings_that_are_strange_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ac.UnsupportedModel, match=r"prepared|damaged"):
        Eye(settings)


def test_a_folder_of_a_network_that_sees_loads(tmp_path: Path) -> None:
    folder = seeing_folder(tmp_path / "tiny-vit")
    model = ac.load_folder(folder)
    assert isinstance(model, ImageModel)
    assert (model.card.name, model.card.details["tokenizer"]) == ("tiny-vit", "patches")
    np.testing.assert_array_equal(
        model.trace_image(picture()).layers[0].q, made("vit").trace_image(picture()).layers[0].q
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("{", "preprocessor_config.json is damaged"),
        ("[]", "holds no object"),
        ('{"feature_extractor_type": "WhisperFeatureExtractor"}', "WhisperFeatureExtractor, which is not known"),
        ('{"image_processor_type": "ViTImageProcessor", "size": 99999999}', "no network takes"),
        ('{"image_processor_type": "ViTImageProcessor", "size": 32}', "does not run"),
    ],
)
def test_a_damaged_folder_of_one_is_refused_in_a_sentence(tmp_path: Path, settings: str, said: str) -> None:
    folder = seeing_folder(tmp_path / "damaged")
    (folder / "preprocessor_config.json").write_text(settings)
    with pytest.raises(ac.UnsupportedModel, match=said):
        ac.load_folder(folder)


def seeing_folder(folder: Path) -> Path:
    OTHERS["vit"].make().save_pretrained(folder)
    transformers.ViTImageProcessorPil(**SETTINGS["ViT"]).save_pretrained(folder)
    return folder
