"""Tiny networks of many architectures, made from configurations alone, with weights drawn wide so that heads choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn

VOCABULARY = 99
SIZES: Mapping[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = {"num_key_value_heads": 2}
DECODER = {"is_decoder": True}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
OURS = {key: SIZES[key] for key in ("vocab_size", "bos_token_id", "eos_token_id", "pad_token_id")}
T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "num_decoder_layers": 2,
    "decoder_start_token_id": 0,
}
BART = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 2,
}
IMAGES = {"image_size": 16, "patch_size": 4, "num_channels": 3}
MOE = {"num_local_experts": 2, "num_experts_per_tok": 2}


@dataclass(frozen=True)
class Kind:
    """An architecture: its configuration's class and what it is given; model: the network's class, or AutoModel."""

    config: str
    facts: Mapping[str, Any]
    model: str = "AutoModel"
    reads: str = "text"  # "text", "pair of texts" (encoder–decoder), "image", "sound", "sound and text"

    def make(self, seed: int = 0) -> nn.Module:
        torch.manual_seed(seed)
        config = getattr(transformers, self.config)(**self.facts)
        network = getattr(transformers, self.model)
        if self.model.startswith("Auto"):
            net = network.from_config(config, attn_implementation="eager")
        else:
            net = network(config)
        return sharpened(net)

    def inputs(self, n: int = 14, seed: int = 1) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(seed)

        def ids(length: int) -> torch.Tensor:
            return torch.randint(5, VOCABULARY - 5, (1, length), generator=generator)

        match self.reads:
            case "text":
                return {"input_ids": ids(n)}
            case "pair of texts":
                return {"input_ids": ids(n), "decoder_input_ids": ids(n - 3)}
            case "image":
                return {"pixel_values": torch.randn(1, 3, 16, 16, generator=generator)}
            case "sound":
                return {"input_values": torch.randn(1, 800, generator=generator)}
            case "sound and text":
                sound = torch.randn(1, 8, 40, generator=generator)
                return {"input_features": sound, "decoder_input_ids": ids(n - 3)}
        raise ValueError(self.reads)


def sharpened(net: Any) -> Any:
    """Every matrix drawn so wide that heads choose (with the library's narrow ones, all weights are nearly equal)."""
    net.set_attn_implementation("eager")
    for name, parameter in net.named_parameters():
        with torch.no_grad():
            if name.endswith("sinks"):
                parameter.normal_(0, 1)
            elif parameter.ndim >= 2:
                parameter.normal_(0, 1.5 / parameter.shape[-1] ** 0.5)
    return net.eval()


def text(config: str, model: str = "AutoModel", **more: Any) -> Kind:
    return Kind(config, {**SIZES, **more}, model)


def pair(config: str, model: str = "AutoModel", **facts: Any) -> Kind:
    return Kind(config, {**OURS, **facts}, model, "pair of texts")


def _composed() -> Kind:
    class Composed(Kind):
        def make(self, seed: int = 0) -> nn.Module:
            torch.manual_seed(seed)
            encoder, decoder = transformers.BertConfig(**SIZES), transformers.BertConfig(**SIZES)
            config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
            config.decoder_start_token_id, config.pad_token_id = 1, 0
            net = transformers.EncoderDecoderModel(config)
            return sharpened(net)

    return Composed("EncoderDecoderConfig", {}, reads="pair of texts")


def _llava() -> Kind:
    class Llava(Kind):
        def make(self, seed: int = 0) -> nn.Module:
            torch.manual_seed(seed)
            vision = transformers.CLIPVisionConfig(**{**SIZES, **IMAGES})
            config = transformers.LlavaConfig(
                vision_config=vision, text_config=transformers.LlamaConfig(**SIZES, **GROUPED), image_token_id=98
            )
            net = transformers.AutoModel.from_config(config)
            return sharpened(net)

    return Llava("LlavaConfig", {})


ENCODERS = {
    "bert": text("BertConfig"),
    "roberta": text("RobertaConfig"),
    "xlm-roberta": text("XLMRobertaConfig"),
    "camembert": text("CamembertConfig"),
    "ernie": text("ErnieConfig"),
    "distilbert": Kind(
        "DistilBertConfig",
        {**OURS, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64},
    ),
    "albert": text("AlbertConfig", embedding_size=16, num_hidden_layers=3),
    "electra": text("ElectraConfig", embedding_size=16),
    "esm": text("EsmConfig", mask_token_id=4, position_embedding_type="rotary"),
    "mobilebert": text("MobileBertConfig", embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16),
    "modernbert": text(
        "ModernBertConfig", local_attention=8, global_attn_every_n_layers=2, cls_token_id=1, sep_token_id=2
    ),
    "nomic-bert": text("NomicBertConfig"),
}
DECODERS = {
    "gpt2": Kind("GPT2Config", {**OURS, **GPT}),
    "gptj": Kind("GPTJConfig", {**OURS, **GPT, "rotary_dim": 4}),
    "gpt-neox": text("GPTNeoXConfig"),
    "opt": text("OPTConfig", ffn_dim=48, word_embed_proj_dim=32),
    "ctrl": Kind("CTRLConfig", {**OURS, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "dff": 48}),
    "llama": text("LlamaConfig", **GROUPED),
    "llama-multi-query": text("LlamaConfig", num_key_value_heads=1),
    "qwen2": text("Qwen2Config", **GROUPED),
    "qwen3": text("Qwen3Config", **GROUPED, head_dim=8),
    "qwen3-moe": text("Qwen3MoeConfig", **GROUPED, head_dim=8, num_experts=2, num_experts_per_tok=2),
    "mistral": text("MistralConfig", **GROUPED, sliding_window=5),
    "mixtral": text("MixtralConfig", **GROUPED, **MOE),
    "gemma": text("GemmaConfig", **GROUPED, head_dim=8),
    "gemma2": text(
        "Gemma2Config",
        **GROUPED,
        head_dim=8,
        sliding_window=5,
        attn_logit_softcapping=2.0,
        query_pre_attn_scalar=16,
    ),
    "gemma3": text(
        "Gemma3TextConfig", **GROUPED, head_dim=8, sliding_window=5, layer_types=["sliding_attention", "full_attention"]
    ),
    "gpt-oss": text("GptOssConfig", **GROUPED, **MOE, head_dim=8, sliding_window=5),
    "phi": text("PhiConfig", partial_rotary_factor=0.5),
    "phi3": text("Phi3Config", **GROUPED),
    "olmo2": text("Olmo2Config", **GROUPED),
    "cohere": text("CohereConfig", **GROUPED),
    "stablelm": text("StableLmConfig", **GROUPED),
    "starcoder2": text("Starcoder2Config", **GROUPED),
    "granite": text("GraniteConfig", **GROUPED, attention_multiplier=0.3),
    "smollm3": text("SmolLM3Config", **GROUPED),
    "deepseek-v3": text(
        "DeepseekV3Config",
        num_key_value_heads=4,
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_rope_head_dim=4,
        qk_nope_head_dim=8,
        v_head_dim=6,
        n_routed_experts=4,
        n_group=2,
        topk_group=1,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        first_k_dense_replace=1,
    ),
    "jamba": text(
        "JambaConfig",
        **GROUPED,
        num_hidden_layers=4,
        attn_layer_period=2,
        attn_layer_offset=1,
        num_experts=2,
        use_mamba_kernels=False,
        mamba_d_state=4,
        mamba_expand=1,
        mamba_dt_rank=4,
    ),
    "qwen3-next": text(
        "Qwen3NextConfig",
        **GROUPED,
        num_hidden_layers=4,
        head_dim=8,
        num_experts=2,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        layer_types=["linear_attention", "full_attention", "linear_attention", "full_attention"],
    ),
    "llava": _llava(),
}
ENCODER_DECODERS = {
    "t5": pair("T5Config", **T5),
    "mt5": pair("MT5Config", **T5),
    "umt5": pair("UMT5Config", **T5),
    "switch": pair("SwitchTransformersConfig", **T5, num_experts=2, expert_capacity=64),
    "bart": pair("BartConfig", **BART),
    "mbart": pair("MBartConfig", **BART),
    "marian": pair("MarianConfig", **BART),
    "pegasus": pair("PegasusConfig", **BART),
    "m2m100": pair("M2M100Config", **BART),
    "encoder-decoder": _composed(),
    "whisper": Kind(
        "WhisperConfig",
        {**OURS, **BART, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 64},
        reads="sound and text",
    ),
}
OTHERS = {
    "vit": Kind("ViTConfig", {**SIZES, **IMAGES}, reads="image"),
    "deit": Kind("DeiTConfig", {**SIZES, **IMAGES}, reads="image"),
    "beit": Kind("BeitConfig", {**SIZES, **IMAGES, "use_relative_position_bias": True}, reads="image"),
    "dinov2": Kind("Dinov2Config", {**SIZES, **IMAGES}, reads="image"),
    "clip-text": text("CLIPTextConfig", "CLIPTextModel"),
    "clip-vision": Kind("CLIPVisionConfig", {**SIZES, **IMAGES}, "CLIPVisionModel", "image"),
    "wav2vec2": Kind(
        "Wav2Vec2Config",
        {
            **SIZES,
            "conv_dim": (16, 16),
            "conv_kernel": (10, 8),
            "conv_stride": (5, 8),
            "num_conv_pos_embeddings": 4,
            "num_conv_pos_embedding_groups": 2,
            "apply_spec_augment": False,
        },
        reads="sound",
    ),
}
THROUGH_INTERFACE: Mapping[str, Kind] = {**ENCODERS, **DECODERS, **ENCODER_DECODERS, **OTHERS}

BYPASSING: Mapping[str, Kind] = {
    "deberta": text("DebertaConfig", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "deberta-v2": text("DebertaV2Config", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "mpnet": text("MPNetConfig"),
    "convbert": text("ConvBertConfig", embedding_size=16, head_ratio=2, conv_kernel_size=3),
    "squeezebert": text(
        "SqueezeBertConfig", embedding_size=32, q_groups=2, k_groups=2, v_groups=2, post_attention_groups=1
    ),
    "roformer": text("RoFormerConfig", embedding_size=32),
    "big-bird": text("BigBirdConfig", attention_type="original_full"),
    "xlnet": Kind("XLNetConfig", {**OURS, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
    "xlm": Kind(
        "XLMConfig",
        {"n_words": VOCABULARY, "emb_dim": 32, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64},
    ),
    "openai-gpt": Kind("OpenAIGPTConfig", {**OURS, **GPT}),
    "gpt-neo": text(
        "GPTNeoConfig", num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=5
    ),
    "bloom": Kind("BloomConfig", {**OURS, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": text("FalconConfig", alibi=False, new_decoder_architecture=False, multi_query=True),
    "falcon-alibi": text("FalconConfig", alibi=True, new_decoder_architecture=False, multi_query=False),
    "falcon-grouped": text("FalconConfig", alibi=False, new_decoder_architecture=True, num_kv_heads=2),
    "mpt": Kind("MptConfig", {**OURS, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}),
}
REFUSED: Mapping[str, tuple[Kind, str]] = {
    "mamba": (text("MambaConfig", state_size=4, use_mambapy=False), "state-space"),
    "rwkv": (text("RwkvConfig", attention_hidden_size=32), "recurrent"),
    "fnet": (text("FNetConfig", use_tpu_fourier_optimizations=False), "Fourier"),
    "longformer": (text("LongformerConfig", attention_window=4), "bands"),
    "led": (
        pair("LEDConfig", **{k: v for k, v in BART.items() if k != "max_position_embeddings"}, attention_window=4),
        "bands",
    ),
    "prophetnet": (
        pair(
            "ProphetNetConfig",
            hidden_size=32,
            num_encoder_layers=1,
            num_decoder_layers=1,
            num_encoder_attention_heads=4,
            num_decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
        ),
        "several streams",
    ),
    "swin": (
        Kind(
            "SwinConfig",
            {**IMAGES, "patch_size": 2, "embed_dim": 16, "depths": [1], "num_heads": [2], "window_size": 4},
            reads="image",
        ),
        "windows",
    ),
}
