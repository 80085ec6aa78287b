"""Nodes made anew from other ones: by a rule, or with some replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .below import has_below, known_below, leaves_below

if TYPE_CHECKING:
    from .nodes import Node


def transform(root: Node, rule: Callable[[Node], Node]) -> Node:
    """`root` with `rule` applied to every node, operands first."""
    return transform_all((root,), rule)[0]


def transform_all(
    roots: tuple[Node, ...],
    rule: Callable[[Node], Node],
    done: dict[Node, Node] | None = None,
    only: type[Node] | None = None,
    stays: Callable[[Node], bool] | None = None,
) -> tuple[Node, ...]:
    """`transform` of several roots that share nodes.

    Args:
        done: results for nodes to which the rule was applied before; new ones are added.
        only: the one class of nodes that the rule changes: what has none below stays as it is.
        stays: whether a node is known to stay as it is, with all below it.
    """
    if only is not None and not has_below(only, *roots):
        return roots
    found = {} if done is None else done
    begun: list[Node] = []  # nodes that are transformed once everything below them has been
    stack: list[Node | None] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        if node is None:  # all below the last one has been
            node = begun.pop()
            found[node] = rule(node.with_args(tuple([found[a] for a in node.args])))
        elif node not in found:
            if (only is not None and only not in known_below(node)._kinds) or (
                stays is not None and stays(node)
            ):
                found[node] = node
            elif args := node.args:
                begun.append(node)
                stack.append(None)
                stack += args[::-1]
            else:
                found[node] = rule(node)
    return tuple([found[r] for r in roots])


def replaced_all(roots: tuple[Node, ...], replacement: Mapping[Node, Node]) -> tuple[Node, ...]:
    """Several roots with nodes replaced."""
    return Replacement(replacement).of(roots) if replacement else roots


class Replacement:
    """Nodes that are replaced, and what other ones have become. The insides of replaced nodes are
    not visited, nor those of nodes above none of the leaves that replaced nodes are above."""

    def __init__(self, replacement: Mapping[Node, Node]) -> None:
        self._names = leaves_below(*replacement)
        self._done = dict(replacement)

    def of(self, roots: tuple[Node, ...]) -> tuple[Node, ...]:
        """Several roots with nodes replaced."""
        names, done = self._names, self._done
        begun: list[Node] = []  # nodes that are made once everything below them has been
        stack: list[Node | None] = [*reversed(roots)]
        while stack:
            node = stack.pop()
            if node is None:  # all below the last one has been
                node = begun.pop()
                done[node] = node.with_args(tuple([done[a] for a in node.args]))
            elif node not in done:
                if (args := node.args) and not known_below(node)._leaves.isdisjoint(names):
                    begun.append(node)
                    stack.append(None)
                    stack += args[::-1]
                else:
                    done[node] = node
        return tuple([done[r] for r in roots])


def substitute(root: Node, replacement: dict[Node, Node]) -> Node:
    """`root` with nodes replaced."""
    return transform(root, lambda n: replacement.get(n, n))
