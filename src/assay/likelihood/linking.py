"""Functions that only compiled functions call, linked as they were lowered. Else Numba makes the
machine code of each again inside its callers, and their callers.
"""

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import compiler, funcdesc, typed_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass

FUNCTIONS: Any = _dynfunc
"""Numba's module, untyped."""
Library: Any = JITCodeLibrary
Lowering: Any = typed_passes.NativeLowering
Compiler: Any = compiler.CompilerBase


class LinkedLibrary(Library):  # type: ignore[misc]
    """Code of one function and of what it calls, neither optimised nor made into machine code."""

    def add_llvm_module(self, module: Any) -> None:
        """Add code as it was lowered."""
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Link what is called."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToLink(Lowering):  # type: ignore[misc]
    """Numba's last pass, without wrappers for Python and without machine code."""

    _name = "lower_to_link"

    def run_pass(self, state: Any) -> bool:
        """Lower one function to a library that callers link."""
        context, flags = state.targetctx, state.flags
        state.library = LinkedLibrary(context.codegen(), state.func_id.func_qualname)
        state.library._reload_init.update(state.reload_init)
        described = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        with context.push_code_library(state.library):
            lower: Any = self.lowering_class(
                context, state.library, described, state.func_ir, metadata=state.metadata
            )
            lower.lower()
        state.library.finalize()
        # Numba knows a function by an object, which Python would call if it could reach it.
        known = FUNCTIONS.make_function(
            described.lookup_module(), described.qualname, "", 0, lower.env, (state.library,)
        )
        context.insert_user_function(known, described, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = compiler._LowerResult(
            described, lower.call_helper, cfunc=known, env=lower.env
        )
        return True


class LinkedCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with :class:`LowerToLink` as its last pass."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, the last one replaced."""
        passes: Any = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        ours = {typed_passes.NativeLowering: LowerToLink}
        passes.passes = [(ours.get(one, one), what) for one, what in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]
