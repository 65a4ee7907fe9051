public import Logging
internal import RestaurantsDomain

/// Logs each operation of a repository with its outcome.
///
/// Reads are logged at level debug, writes at info, failures at error with their cause. No line contains a password, a
/// token or a search text.
public struct RepositoryLog: Sendable {
    private let logger: Logger

    /// Creates a log.
    public init(_ logger: Logger) { self.logger = logger }

    /// Runs an operation and logs it by a name such as `restaurants.search`, with its subject and, at `level`, its
    /// outcome.
    func run<Value>(
        _ operation: String,
        _ level: Logger.Level = .debug,
        about subject: Logger.Metadata = [:],
        outcome: (Value) -> Logger.Metadata = { _ in [:] },
        of body: () async throws(DomainError) -> Value
    ) async throws(DomainError) -> Value {
        do throws(DomainError) {
            let value = try await body()
            logger.log(
                level: level,
                "\(operation)",
                metadata: subject.merging(outcome(value)) { $1 }
            )
            return value
        } catch {
            guard error.kind != .cancelled else { throw error }
            var metadata = subject
            metadata["error"] = "\(error.label)"
            metadata["cause"] = error.cause.map { "\($0)" }
            logger.error("\(operation) failed", metadata: metadata)
            throw error
        }
    }
}

extension DomainError {
    /// The name of the error's kind, without the user's input.
    fileprivate var label: String { String("\(kind)".prefix { $0 != "(" }) }
}
