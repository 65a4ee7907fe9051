/// A value that is created on first use, so that unselected measures cost nothing.
actor Lazily<Value: Sendable> {
    private let make: @concurrent @Sendable () async throws -> Value
    private var made: Value?

    init(_ make: @escaping @concurrent @Sendable () async throws -> Value) { self.make = make }

    func value() async throws -> Value {
        if let made { return made }
        let value = try await make()
        made = value
        return value
    }
}
