public import Logging
internal import RestaurantsDomain

/// Writes a line for each operation of a repository, with what came of it.
///
/// Reads are told at the level debug, writes at info, failures at error with their cause. No line
/// holds a password, a token or what somebody searched for.
public struct RepositoryLog: Sendable {
    private let logger: Logger

    /// Creates a log.
    public init(_ logger: Logger) { self.logger = logger }

    /// Runs an operation and tells of it.
    ///
    /// - Parameters:
    ///   - operation: What it is called in the log, such as `restaurants.search`.
    ///   - level: The level of its success.
    ///   - subject: What it is about.
    ///   - outcome: What is told of its value.
    ///   - body: The operation.
    /// - Returns: What the operation returned.
    /// - Throws: What it threw.
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
    /// The kind's name, without what the user typed.
    fileprivate var label: String { String("\(kind)".prefix { $0 != "(" }) }
}
