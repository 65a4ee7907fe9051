package import KeelCore
package import Testing

/// Expects that the work throws an error of this type and code, and returns the error.
@discardableResult
package func expectError<Failure: KeelError, Value>(
    _: Failure.Type,
    _ code: Failure.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: () async throws -> Value
) async -> Failure? {
    do {
        _ = try await work()
        Issue.record("expected \(code), nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        let failure = error as? Failure
        #expect(failure?.code == code, "threw \(error)", sourceLocation: sourceLocation)
        return failure
    }
}

/// Expects that the work throws an error of this type and code, and returns the error.
@discardableResult
package func expectError<Failure: KeelError, Value>(
    _: Failure.Type,
    _ code: Failure.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: () throws -> Value
) -> Failure? {
    do {
        _ = try work()
        Issue.record("expected \(code), nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        let failure = error as? Failure
        #expect(failure?.code == code, "threw \(error)", sourceLocation: sourceLocation)
        return failure
    }
}

/// Records an issue, for the `else` of a `guard` that ends its test.
package func fail(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record(comment, sourceLocation: sourceLocation)
}
