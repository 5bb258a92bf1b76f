"""The measured parts of a request, in microseconds of processor time, and the machines of a fleet. model.py and simulate.py use
both."""
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Parts:
    """Of one kind of request. `group`: per group of the journal; all others: per request."""

    handle: float  # at the owner: HTTP, JSON, deciding, response
    forward: float  # at the server that forwards: HTTP in, HTTP out, and back
    journal: float  # the journal's thread at the owner, with libpq
    journal_group: float
    wake_group: float  # other threads of the owner: those that a group wakes
    backend: float  # the backend that writes the group
    backend_group: float
    replicate: float  # of the primary's other processes, mostly the one that sends the write-ahead log
    standby: float  # the busiest process of the standby: it receives, or replays, everything alone
    train: float  # trainers of the owner
    train_read: float  # the backends from which trainers read

    def owner(self, group):
        """At the owner, per request."""
        return self.handle + self.journal + (self.journal_group + self.wake_group) / group + self.train

    def database(self, group):
        """At the primary, per request."""
        return self.backend + self.backend_group / group + self.replicate + self.train_read


@dataclass(frozen=True)
class Machines:
    """Times in microseconds."""

    servers: int
    cores: int = 4  # of each server
    database_cores: int = 16
    commit: float = 1000.0  # from COMMIT until the standby has it, without the processor time
    network: float = 100.0  # one way, between any two machines
    bandits: int = 1  # that get the same load; 1: one hot bandit
    most_group: int = 512  # entries of a group, as the journal has it

    @property
    def owners(self):
        """Servers that own a bandit with load."""
        return min(self.bandits, self.servers)

    @property
    def forwarded(self):
        """Share of the requests that arrive at another server than the owner."""
        return 1 - 1 / self.servers

    def with_servers(self, servers):
        return replace(self, servers=servers)
