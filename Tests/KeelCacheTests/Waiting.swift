/// Gives way until something holds, or the time limit of the test cancels it.
func wait(until condition: @Sendable () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}
