"""Arrays from files: read without executing anything, or refused; then shown by their names."""

from __future__ import annotations

import io
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import attention_core as ac
from attention_core.arrays import read
from tests.core.test_arrays import RNG, factors, weights


def saved(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def saved_one(array: np.ndarray, **options: bool) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("the file was executed",))


class TestFiles:
    def test_npz_and_npy(self) -> None:
        mine = factors(2, 6)
        found = read(saved(**mine, tokens=np.array(["我", "the"])))
        assert list(found) == ["q", "k", "v", "tokens"]
        np.testing.assert_array_equal(found["q"], mine["q"])
        assert found["tokens"].tolist() == ["我", "the"]
        np.testing.assert_array_equal(read(saved_one(mine["v"]))["array"], mine["v"])

    @given(array=hnp.arrays(hnp.array_dtypes() | hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, min_side=0)))
    def test_any_array_comes_back_or_is_refused(self, array: np.ndarray) -> None:
        try:
            found = read(saved_one(array))["array"]
        except ac.UnreadableArrays:
            assert array.dtype.kind not in "biuf"
            return
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found, array)

    def test_columns_first(self) -> None:
        array = np.asfortranarray(RNG.random((3, 4, 5)))
        np.testing.assert_array_equal(read(saved_one(array))["array"], array)

    def test_pickle_is_never_read(self) -> None:
        bomb = np.array([Bomb()], dtype=object)
        for data in (saved_one(bomb, allow_pickle=True), pickle.dumps(Bomb()), saved(a=bomb)):
            with pytest.raises(ac.UnreadableArrays, match=r"pickle|no \.npy"):
                read(data)
        with pytest.raises(ac.UnreadableArrays, match="pickle"):
            read(saved_one(bomb, allow_pickle=True))

    @given(data=st.binary(max_size=300))
    def test_any_bytes_are_refused(self, data: bytes) -> None:
        for prefix in (b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04"):
            with pytest.raises(ac.UnreadableArrays):
                read(prefix + data)

    @given(at=st.integers(0, 10**6), byte=st.integers(0, 255))
    def test_a_changed_byte_reads_as_arrays_or_not_at_all(self, at: int, byte: int) -> None:
        for good in (saved_one(np.eye(3)), saved(q=np.eye(3), k=np.ones(2))):
            data = bytearray(good)
            data[at % len(data)] = byte
            with suppress(ac.UnreadableArrays):
                assert all(isinstance(array, np.ndarray) for array in read(bytes(data)).values())

    def test_a_header_that_claims_too_much(self) -> None:
        good = saved_one(np.zeros((3, 4)))
        for claim in (b"(9, 9)", b"(-3,-4)", b"(0, 4)"):
            with pytest.raises(ac.UnreadableArrays):
                read(good.replace(b"(3, 4)", claim))
        with pytest.raises(ac.UnreadableArrays, match="999999"):
            read(good.replace(b"(3, 4), ", b"(999999999999,), ").replace(b" " * 9, b"", 1))

    def test_more_than_the_limit(self) -> None:
        data = saved(a=np.zeros(10_000), b=np.zeros(10_000))
        assert len(data) < 2_000
        assert set(read(data, limit=200_000)) == {"a", "b"}
        with pytest.raises(ac.UnreadableArrays, match="100000"):
            read(data, limit=100_000)
        with pytest.raises(ac.UnreadableArrays, match="does not hold"):
            read(saved_one(np.zeros(10_000)), limit=79_999)

    def test_an_archive_without_arrays(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as files:
            files.writestr("readme.txt", "nothing")
        with pytest.raises(ac.UnreadableArrays, match="no array"):
            read(out.getvalue())


class TestNamed:
    def test_q_k_v_with_all_that_goes_with_them(self) -> None:
        mine = factors(2, 6)
        given_scale, bias = np.float32(0.5), RNG.standard_normal((5, 7))
        tokens, queries = np.array(list("abcdefg")), np.array(list("vwxyz"))
        data = saved(**mine, scale=given_scale, bias=bias, tokens=tokens, query_tokens=queries, softcap=np.array([3.0]))
        trace = ac.from_named(read(data))
        expected = ac.from_arrays(**mine, scale=0.5, bias=bias, softcap=3.0)
        np.testing.assert_array_equal(trace.layers[1].weights(4), expected.layers[1].weights(4))
        assert [token.text for token in trace.tokens] == list("abcdefg")
        assert [token.text for token in trace.target_tokens] == list("vwxyz")

    def test_weights_by_name_or_alone(self) -> None:
        mine = weights(6, 5, 7)
        for arrays in ({"weights": mine, "noise": np.ones(1)}, {"anything": mine}, read(saved_one(mine))):
            np.testing.assert_array_equal(ac.from_named(arrays).layers[0].weights(3), mine[3])

    @pytest.mark.parametrize("names", [(), ("q", "k"), ("a", "b"), ("tokens",)])
    def test_neither_is_refused(self, names: tuple[str, ...]) -> None:
        with pytest.raises(ac.UnreadableArrays, match="weights"):
            ac.from_named(dict.fromkeys(names, np.eye(2)))

    def test_a_scale_that_is_no_number(self) -> None:
        with pytest.raises(ac.UnfitValues, match="scale"):
            ac.from_named({**factors(6), "scale": np.ones(2)})

    def test_a_batch_in_a_file_asks_too(self) -> None:
        mine = {"weights": weights(2, 3, 6, 5, 7)}
        with pytest.raises(ac.WhichItem):
            ac.from_named(mine)
        np.testing.assert_array_equal(ac.from_named(mine, item=2).layers[0].weights(1), mine["weights"][0, 2, 1])
