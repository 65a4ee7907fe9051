/// Gives way until something holds.
func wait(until condition: @Sendable () -> Bool) async {
    while !condition() { await Task.yield() }
}
