-- What is told of a job that is not on the board: how it ended, or that the board does not know it.
local function ended_reply(id, verdict)
  local ended = redis.call('HGET', ENDED, id)
  if not ended then return { 'unknown' } end
  local how = cjson.decode(ended)
  return { verdict or 'ended', 'how', how.how, 'cause', how.cause or '', 'by', how.by or '', 'at', string.format('%d', how.at) }
end
