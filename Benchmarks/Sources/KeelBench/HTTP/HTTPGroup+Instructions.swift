extension HTTPGroup {
    /// Measures the instructions of a call, excluding the server's.
    ///
    /// Two processes make different numbers of calls, and the difference in instructions is divided by the difference
    /// in calls, which cancels the start of the program, the opening of the connection and the first calls.
    static func instructions(
        _ name: String,
        _ target: Target,
        _ kind: ChildWork.Kind,
        _ pair: Lazily<HTTPPair>,
        _ options: Options
    ) -> Measure {
        let counter = Lazily { try await InstructionCounter.find() }
        let (few, many) = (256, 1_280)
        @Sendable @concurrent
        func perCall(isKeel: Bool) async throws -> Double {
            let counter = try await counter.value()
            let port = try await pair.value().port
            @Sendable func total(_ count: Int) async throws -> Double {
                let call = ChildWork.call(kind, isKeel: isKeel, count, port)
                return try await counter.count(call.program, call.arguments)
            }
            // A start under valgrind takes ten seconds, and the figures of a quick round mean nothing.
            if options.isQuick { return try await total(64) / 64 }
            return (try await total(many) - total(few)) / Double(many - few)
        }
        return Measure(
            name: name,
            unit: "",
            target: target,
            maximumRounds: 3,
            keel: { try await perCall(isKeel: true) },
            peer: { try await perCall(isKeel: false) }
        )
    }

    /// Measures the time of a call with each client in a process of its own.
    static func processes(
        _ name: String,
        _ target: Target,
        _ kind: ChildWork.Kind,
        _ pair: Lazily<HTTPPair>,
        _ options: Options
    ) -> Measure {
        let count = options.scaled(6_400)
        @Sendable @concurrent
        func perCall(isKeel: Bool) async throws -> Double {
            let call = ChildWork.call(kind, isKeel: isKeel, count, try await pair.value().port)
            return try await ProgramRun(call.program, call.arguments).number()
        }
        return Measure(
            name: name,
            target: target,
            keel: { try await perCall(isKeel: true) },
            peer: { try await perCall(isKeel: false) }
        )
    }
}
