"""The encoder-decoder Transformer of a recipe in PyTorch: the same shape, the same initial values'
distribution, and beam search with caches.

Pre-LN (with a norm at the end of each stack) or Post-LN, half-split sinusoids, scaled and tied
embeddings. Sequences are padded on the right; the loss looks at real rows only.
Source: Vaswani et al. 2017.
SPDX-License-Identifier: MIT
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


def linear(rows, cols):
    layer = nn.Linear(rows, cols)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def sinusoids(positions, width):
    angle = torch.arange(positions)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.cat([angle.sin(), angle.cos()], 1).float()


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width = shape["width"]
        self.heads, self.drop = shape["heads"], shape["attention_dropout"]
        self.q, self.k, self.v, self.out = (linear(width, width) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys(self, memory):
        return self.split(self.k(memory)), self.split(self.v(memory))

    def forward(self, x, keys, mask=None, causal=False):
        drop = self.drop if self.training else 0.0
        y = F.scaled_dot_product_attention(self.split(self.q(x)), *keys, mask, drop, causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, shape, cross):
        super().__init__()
        width = shape["width"]
        self.pre, self.drop = shape["norm_position"] == "pre", shape["dropout"]
        self.inner_drop, self.act = shape["activation_dropout"], ACTIVATIONS[shape["activation"]]
        self.attention = Attention(shape)
        self.cross = Attention(shape) if cross else None
        self.up = linear(width, shape["feed_forward"])
        self.down = linear(shape["feed_forward"], width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))

    def block(self, x, i, f):
        if self.pre:
            return x + F.dropout(f(self.norms[i](x)), self.drop, self.training)
        return self.norms[i](x + F.dropout(f(x), self.drop, self.training))

    def feed_forward(self, x):
        return self.down(F.dropout(self.act(self.up(x)), self.inner_drop, self.training))

    def forward(self, x, mask, causal, memory=None, memory_mask=None):
        x = self.block(x, 0, lambda y: self.attention(y, self.attention.keys(y), mask, causal))
        if self.cross:
            keys = self.cross.keys(memory)
            x = self.block(x, 1, lambda y: self.cross(y, keys, memory_mask))
        return self.block(x, -1, self.feed_forward)

    def step(self, x, cache, memory_mask):
        """One new row for each sequence; cache: keys and values so far, and those of the source."""

        def attend(y):
            new = self.attention.keys(y)
            cache["self"] = [torch.cat([old, more], 2) for old, more in zip(cache["self"], new)]
            return self.attention(y, cache["self"])

        x = self.block(x, 0, attend)
        x = self.block(x, 1, lambda y: self.cross(y, cache["cross"], memory_mask))
        return self.block(x, -1, self.feed_forward)


class Transformer(nn.Module):
    def __init__(self, shape, vocab, pad):
        super().__init__()
        self.width, self.drop, self.pad = shape["width"], shape["dropout"], pad
        self.scale = math.sqrt(self.width) if shape["scale_embedding"] else 1.0
        self.table = nn.Embedding(vocab, self.width, padding_idx=pad)
        nn.init.normal_(self.table.weight, 0, self.width**-0.5)
        self.encoder = nn.ModuleList(Layer(shape, False) for _ in range(shape["encoder_layers"]))
        self.decoder = nn.ModuleList(Layer(shape, True) for _ in range(shape["decoder_layers"]))
        last = nn.LayerNorm if shape["norm_position"] == "pre" else lambda width: nn.Identity()
        self.encoder_norm, self.decoder_norm = last(self.width), last(self.width)
        places = sinusoids(shape["max_positions"], self.width)
        self.register_buffer("places", places, persistent=False)

    def embed(self, ids, first=0):
        x = self.table(ids) * self.scale + self.places[first : first + ids.shape[1]]
        return F.dropout(x, self.drop, self.training)

    def encode(self, ids):
        mask = (ids != self.pad)[:, None, None, :]
        mask = None if mask.all() else mask
        x = self.embed(ids)
        for layer in self.encoder:
            x = layer(x, mask, False)
        return self.encoder_norm(x), mask

    def loss(self, source, target, labels, smoothing):
        """The sum over the labels, of which -100 does not count, and their number."""
        memory, memory_mask = self.encode(source)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, None, True, memory, memory_mask)
        real = labels != -100
        logits = F.linear(self.decoder_norm(x)[real], self.table.weight)
        loss = F.cross_entropy(logits, labels[real], reduction="sum", label_smoothing=smoothing)
        return loss, int(real.sum())

    # ---- beam search ------------------------------------------------------------------------

    def start(self, source, beams):
        """Caches for `beams` sequences of each source, which share its keys by repetition."""
        memory, mask = self.encode(source)
        caches = []
        for layer in self.decoder:
            cross = [x.repeat_interleave(beams, 0) for x in layer.cross.keys(memory)]
            none = [x[:, :, :0] for x in cross]
            caches.append({"self": none, "cross": cross})
        return caches, None if mask is None else mask.repeat_interleave(beams, 0)

    def next_scores(self, ids, at, caches, memory_mask):
        x = self.embed(ids[:, None], at)
        for layer, cache in zip(self.decoder, caches):
            x = layer.step(x, cache, memory_mask)
        scores = F.linear(self.decoder_norm(x[:, 0]), self.table.weight).log_softmax(-1)
        scores[:, self.pad] = -math.inf
        return scores

    @torch.no_grad()
    def translate(self, source, begin, end, beams, penalty, longest):
        """The best ids for each row of `source`, with the end token where there is one."""
        n = len(source)
        caches, memory_mask = self.start(source, beams)
        ids = torch.full((n * beams,), begin)
        total = torch.full((n, beams), -math.inf)
        total[:, 0] = 0
        running = torch.empty(n * beams, 0, dtype=torch.long)
        best = [Best(beams, penalty) for _ in range(n)]
        for at in range(longest):
            scores = self.next_scores(ids, at, caches, memory_mask)
            top, index = (total[..., None] + scores.view(n, beams, -1)).flatten(1).topk(2 * beams)
            rows = index // scores.shape[1] + torch.arange(n)[:, None] * beams
            token = index % scores.shape[1]
            stops = (token == end) | (at + 1 == longest)
            for i, r in stops[:, :beams].nonzero().tolist():
                best[i].add(float(top[i, r]), running[rows[i, r]].tolist() + [int(token[i, r])])
            total, order = top.masked_fill(stops, -math.inf).topk(beams)
            rows, ids = rows.gather(1, order).flatten(), token.gather(1, order).flatten()
            running = torch.cat([running[rows], ids[:, None]], 1)
            for cache in caches:
                cache["self"] = [x[rows] for x in cache["self"]]
            for one, ahead in zip(best, total[:, 0].tolist()):
                one.close(ahead, at + 1)
            if all(one.closed for one in best):
                break
        return [one.found[0][1] for one in best]


class Best:
    """The best finished sequences of a sentence, by their sum over the length to the penalty. It is
    closed when it is full and no running sequence, at its length, beats the worst of them."""

    def __init__(self, beams, penalty):
        self.beams, self.penalty = beams, penalty
        self.found, self.closed = [], False

    def add(self, total, ids):
        if not self.closed and total > -math.inf:
            self.found.append((total / len(ids) ** self.penalty, ids))
            self.found.sort(key=lambda s: -s[0])
            del self.found[self.beams :]

    def close(self, ahead, length):
        full = len(self.found) == self.beams
        self.closed = self.closed or (full and ahead / length**self.penalty <= self.found[-1][0])
