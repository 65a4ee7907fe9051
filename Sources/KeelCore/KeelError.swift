#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The kinds of failures of one area of Keel.
///
/// Codes are static members of an open set, so later versions can add one without breaking a caller's `switch`.
/// ``KeelErrorCode/known`` lists all of them; a test checks the advice of each.
public protocol KeelErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, stable across versions and safe as a metric label.
    var name: String { get }

    /// Whether the same call may succeed when it is repeated a little later.
    var isTransient: Bool { get }

    /// Advice for the reader of the error, in one or two sentences.
    var advice: String { get }

    /// The codes that this version of Keel itself reports.
    static var known: [Self] { get }

    /// The call was canceled by its caller.
    static var cancelled: Self { get }
}

extension KeelErrorCode {
    public var description: String { name }
}

/// An error of one of Keel's areas.
///
/// Each area has one error type: a struct with an open ``KeelError/code``, a message that says what happened and what
/// to do, and the underlying error in ``KeelError/cause``. Messages never contain a secret, a token, a body or a query
/// string. Cancellation has the code `cancelled`, because typed throws exclude `CancellationError`.
public protocol KeelError: LocalizedError, CustomStringConvertible, Sendable {
    /// The type of this area's codes.
    associatedtype Code: KeelErrorCode

    /// The kind of failure.
    var code: Code { get }

    /// One sentence about the failure, which may name paths and types, never contents.
    var message: String { get }

    /// The underlying error, if any, such as that of a database, the operating system or a user's code.
    var cause: (any Error)? { get }
}

extension KeelError {
    /// Whether the same call may succeed when it is repeated a little later.
    public var isTransient: Bool { code.isTransient }

    /// Whether the call ended because its caller canceled it.
    public var isCancellation: Bool { code == .cancelled }

    public var errorDescription: String? { message }

    public var recoverySuggestion: String? { code.advice }

    // With these defaults, conforming types need not import Foundation.
    public var failureReason: String? { nil }
    public var helpAnchor: String? { nil }

    /// The code and the message on one line, suitable for a log.
    public var description: String {
        guard let cause else { return "\(code.name): \(message)" }
        return "\(code.name): \(message) (cause: \(cause))"
    }
}
