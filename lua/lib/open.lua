-- Opens every deciding call. What is seldom needed stands in a block of its own: Lua makes a function each time it comes
-- by its definition, so an include costs nothing until its block runs.
-- @include lib/board
-- @include lib/clock
-- @include lib/event
-- @include lib/job_get
-- @include lib/job_put
-- @include lib/begin
if not begin() then
  if board.meta.schema and board.meta.schema ~= '1' then return { 'newerSchema', 'schema', board.meta.schema } end
  -- @include lib/catch_up
  catch_up()
end
