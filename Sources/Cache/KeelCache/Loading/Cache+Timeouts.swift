internal import KeelCore

extension Cache {
    private enum RaceEnd: Sendable {
        case landed(Value?)
        case softTimeout
        case hardTimeout
    }

    /// Waits for a flight, no longer than the policy's timeouts.
    func race(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>,
        _ standIn: MemoryFound<Value>?
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: RaceEnd.self) { group in
            defer { group.cancelAll() }
            let isForced = call.policy.source == .load
            group.addTask { [self] in
                .landed(try await flight(call, id, isForced: isForced))
            }
            if let limit = call.policy.softTimeout, standIn?.value != nil {
                group.addTask { [clock] in
                    try await clock.sleep(for: limit)
                    return .softTimeout
                }
            }
            if let limit = call.policy.hardTimeout {
                group.addTask { [clock] in
                    try await clock.sleep(for: limit)
                    return .hardTimeout
                }
            }
            while let end = try await group.next() {
                switch end {
                case .landed(let value): return value
                case .softTimeout:
                    guard let value = substitute(id, standIn) else { continue }
                    // Joins the flight before this caller leaves, so that the flight continues.
                    await stayBehind(call, id)
                    ledger.count { $0.staleHits += 1 }
                    return value
                case .hardTimeout:
                    throw CacheError(.timeout, "loading a value exceeded its time limit")
                }
            }
            throw CancellationError()
        }
    }

    /// Keeps a flight going that the caller is about to leave.
    ///
    /// Others who wait for it do not suffice, because they may be canceled.
    private func stayBehind(_ call: LoadCall<Key, Value>, _ id: FlightID<Key>) async {
        guard memory.begin(call.key) == id.generation else {
            // The key was changed, so no caller wants the flight's result.
            return memory.end(call.key)
        }
        var hasher = Hasher()
        hasher.combine(id)
        let name = UInt64(bitPattern: Int64(hasher.finalize()))
        let (boarded, isAboard) = AsyncStream.makeStream(of: Never.self)
        let isFirst = background.start(name) { [self] in
            defer {
                // Also if joining failed, so that the caller does not wait forever.
                isAboard.finish()
                memory.end(call.key)
            }
            // The failure is counted, and the next reader may try again.
            _ = try? await flight(call, id, isForced: false) { isAboard.finish() }
        }
        // An earlier caller that has left keeps the flight going.
        guard isFirst else { return memory.end(call.key) }
        for await _ in boarded {}
    }
}
