"""What every record shares: frozen, closed, one JSON form."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value; unknown fields are refused, so a typing slip cannot pass silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json()
