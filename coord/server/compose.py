"""The compose file that `omp-coord server compose` prints; `docker-compose.yml` at the root is the same
text."""

TEXT = """\
# A Redis for omp-coord: `docker compose up -d redis`. Reached from this machine only; sessions find it on 6379.
services:
  redis:
    image: redis:7-alpine
    command:
      - redis-server
      - --appendonly
      - "yes"
      - --appendfsync
      - everysec
      - --maxmemory-policy
      - noeviction
      - --maxclients
      - "20000"
    ports:
      - "127.0.0.1:6379:6379"
    volumes:
      - omp-coord-redis:/data
    healthcheck:
      test: ["CMD", "redis-cli", "ping"]
      interval: 5s
      timeout: 3s
      retries: 5
    ulimits:
      nofile: 20100
    restart: unless-stopped

volumes:
  omp-coord-redis:
"""
