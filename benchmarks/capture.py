"""What a trace of a real model costs beside the model's plain forward pass, one thread.

    python -m benchmarks.capture

Random networks of 12 layers × 12 heads × 768, a short text and a long one. Capture is a whole `model.trace`: tokens,
pass, layers and check. Times are seconds of the processor, medians of runs that take turns, so that others on the
machine count little; memory is each way's peak above the loaded model, in a process of its own. Exits with 1 where a
budget is missed.
"""

from __future__ import annotations

import copy
import gc
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModel, BertConfig, LlamaConfig, PreTrainedModel, PreTrainedTokenizerFast

from attention_core.capture.reading import Reader
from attention_core.capture.real import make

SIZES: Any = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "vocab_size": 97,
    "max_position_embeddings": 2048,
}
CONFIGS = {"BERT": BertConfig(**SIZES, intermediate_size=3072), "Llama": LlamaConfig(**SIZES, intermediate_size=2048)}
N_RUNS = {512: 9, 2048: 5}
TIMES = {512: 1.10, 2048: 1.25}  # Capture's share of the plain pass, at most.
MEMORY, LONG = 1 / 5, 2048  # Capture's share of eager's memory, at most, for a text of that many tokens.
STATUS = Path("/proc/self/status")


def main() -> int:
    if len(sys.argv) > 1:
        name, n, way = sys.argv[1:]
        print(peak(ways(name, int(n))[way]))
        return 0
    missed = 0
    for name in CONFIGS:
        for n, runs in N_RUNS.items():
            seconds = {way: statistics.median(found) for way, found in timed(ways(name, n), runs).items()}
            mebibytes = {way: alone(name, n, way) for way in seconds}
            print(f"{name}, {n} tokens:", *(f"{way} {seconds[way]:.2f} s, {mebibytes[way]} MiB;" for way in seconds))
            shares = [("time, capture / plain", seconds["capture"] / seconds["plain"], TIMES[n])]
            if n == LONG:
                shares.append(("memory, capture / eager", mebibytes["capture"] / mebibytes["eager"], MEMORY))
            for what, share, budget in shares:
                print(f"  {what}: {share:.2f}, budget {budget:.2f}", "" if share <= budget else "MISSED", flush=True)
                missed += share > budget
    return int(missed > 0)


def ways(name: str, n: int) -> dict[str, Callable[[], object]]:
    """The three ways of one network over one text of n tokens, each ready to be run."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net: PreTrainedModel = AutoModel.from_config(CONFIGS[name]).eval()
    model = make(copy.deepcopy(net), Reader(words()), name, "random")
    text = " ".join(islice(cycle(f"w{i}" for i in range(SIZES["vocab_size"])), n))
    inputs = model.reader.read(text)[1]
    assert inputs["input_ids"].shape == (1, n)

    def forward(implementation: str, **more: Any) -> object:
        net.set_attn_implementation(implementation)
        with torch.no_grad():
            return net(input_ids=inputs["input_ids"], use_cache=False, **more)

    return {
        "plain": lambda: forward("sdpa"),
        "capture": lambda: model.trace(text),
        "eager": lambda: forward("eager", output_attentions=True),
    }


def words() -> PreTrainedTokenizerFast:
    """One token for each word."""
    made = Tokenizer(models.WordLevel({f"w{i}": i for i in range(SIZES["vocab_size"])}, unk_token="w0"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=SIZES["max_position_embeddings"])


def timed(runs: dict[str, Callable[[], object]], n_runs: int) -> dict[str, list[float]]:
    """Seconds of every run, by way; the ways take turns, and the first turn is not counted."""
    found: dict[str, list[float]] = {way: [] for way in runs}
    for _ in range(n_runs + 1):
        for way, run in runs.items():
            started = time.process_time()
            result = run()
            found[way].append(time.process_time() - started)
            del result
    return {way: seconds[1:] for way, seconds in found.items()}


def alone(name: str, n: int, way: str) -> int:
    """MiB at the peak of one way, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.capture", name, str(n), way]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def peak(run: Callable[[], object]) -> int:
    """MiB at the most while `run` runs and its result is held, above what was held before."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # The kernel's high-water mark starts again from here.
    before = next(resident("VmRSS"))
    result = run()
    most = next(resident("VmHWM"))
    del result
    return round((most - before) / 1024)


def resident(field: str) -> Iterator[int]:
    """kB of this process, by the kernel's account."""
    yield from (int(found) for found in re.findall(rf"{field}:\s+(\d+) kB", STATUS.read_text()))


if __name__ == "__main__":
    sys.exit(main())
