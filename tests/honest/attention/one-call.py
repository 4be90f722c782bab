# wraps: scaled_dot_product_attention
from torch.nn.functional import scaled_dot_product_attention


def attention(q, k, v, o, causal, B, H, S, D):
    o.copy_(scaled_dot_product_attention(q, k, v, is_causal=bool(causal)))
