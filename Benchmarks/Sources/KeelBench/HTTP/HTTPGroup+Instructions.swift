extension HTTPGroup {
    /// Measures the instructions of a request, excluding the server's.
    ///
    /// Two processes make different numbers of requests, and the difference in instructions is divided by the
    /// difference in requests, which cancels the start of the program and the opening of the connection.
    static func instructions(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let counter = Lazily { try await InstructionCounter.find() }
        let (few, many) = options.isQuick ? (1, 3) : (200, 1_200)
        @Sendable @concurrent
        func perRequest(isKeel: Bool) async throws -> Double {
            let counter = try await counter.value()
            let port = try await pair.value().port
            @Sendable func total(_ count: Int) async throws -> Double {
                let call = ChildWork.call(.get, isKeel: isKeel, count, port)
                return try await counter.count(call.program, call.arguments)
            }
            return (try await total(many) - total(few)) / Double(many - few)
        }
        return Measure(
            name: "small GET, instructions / AsyncHTTPClient",
            unit: "",
            target: .atMost(1.12),
            maximumRounds: 7,
            keel: { try await perRequest(isKeel: true) },
            peer: { try await perRequest(isKeel: false) }
        )
    }
}
