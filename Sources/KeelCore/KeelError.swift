#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The kinds of failure that one area of Keel reports.
///
/// A code is an open set of static members, so that a later version may add one without breaking
/// a caller's `switch`. ``KeelErrorCode/known`` lists all of them; one test walks it and asks each
/// for its advice.
public protocol KeelErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, stable across versions, safe as a metric label.
    var name: String { get }

    /// Whether the same call may succeed when it is repeated a little later.
    var isTransient: Bool { get }

    /// Advice for the reader of the error, as one or two sentences.
    var advice: String { get }

    /// Every code that this version of Keel itself reports.
    static var known: [Self] { get }

    /// The call was cancelled by its caller.
    static var cancelled: Self { get }
}

extension KeelErrorCode {
    public var description: String { name }
}

/// An error of one of Keel's areas.
///
/// Each area has one error type: a struct with an open ``KeelError/code``, a message that says what
/// happened and what to do, and the error of the backend in ``KeelError/cause``. A message never
/// holds a secret, a token, a body or a query string. Cancellation is the code `cancelled`:
/// typed throws leave no room for `CancellationError`.
public protocol KeelError: LocalizedError, CustomStringConvertible, Sendable {
    /// The type of this area's codes.
    associatedtype Code: KeelErrorCode

    /// The kind of failure.
    var code: Code { get }

    /// One sentence about the failure, which may name paths and types, never contents.
    var message: String { get }

    /// The error underneath, where there is one: a database's, an operating system's, a user's.
    var cause: (any Error)? { get }
}

extension KeelError {
    /// Whether the same call may succeed when it is repeated a little later.
    public var isTransient: Bool { code.isTransient }

    /// Whether the call ended because its caller cancelled it.
    public var isCancellation: Bool { code == .cancelled }

    public var errorDescription: String? { message }

    public var recoverySuggestion: String? { code.advice }

    // With these two here, a conforming type needs no import of Foundation.
    public var failureReason: String? { nil }
    public var helpAnchor: String? { nil }

    /// The code and the message on one line, fit for a log.
    public var description: String {
        guard let cause else { return "\(code.name): \(message)" }
        return "\(code.name): \(message) (cause: \(cause))"
    }
}
