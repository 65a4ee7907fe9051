internal import KeelCore

extension Cache {
    private enum RaceEnd: Sendable {
        case landed(Value?)
        case softTimeout
        case hardTimeout
    }

    /// Joins or starts the flight of a key, and waits no longer than the policy's timeouts.
    ///
    /// Without a stale value as a stand-in, the soft timeout has no effect.
    func flightInTime(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>,
        _ standIn: MemoryFound<Value>? = nil,
        isForced: Bool,
        onBoard: @escaping @Sendable () -> Void = {}
    ) async throws -> Value? {
        guard call.policy.softTimeout != nil || call.policy.hardTimeout != nil else {
            return try await flight(call, id, isForced: isForced, onBoard: onBoard)
        }
        return try await withThrowingTaskGroup(of: RaceEnd.self) { group in
            defer { group.cancelAll() }
            group.addTask { [self] in
                .landed(try await flight(call, id, isForced: isForced, onBoard: onBoard))
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

    /// Keeps a flight going that the caller is about to leave; others who wait for it may be canceled.
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
            _ = try? await flightInTime(call, id, isForced: false) { isAboard.finish() }
        }
        // An earlier caller that has left keeps the flight going.
        guard isFirst else { return memory.end(call.key) }
        for await _ in boarded {}
    }
}
