#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The description of an error code: its name, whether a retry can help, and advice.
///
/// Two kinds are equal if their names are.
public struct ErrorKind: Hashable, Sendable {
    /// The name of the code, stable across versions and safe as a metric label.
    public let name: String
    /// Whether the same call may succeed when it is repeated a little later.
    public let isTransient: Bool
    /// Advice for the reader of the error, in one or two sentences.
    public let advice: String
    /// The message of errors without their own; by default the name.
    package let summary: String

    /// Creates a kind.
    public init(name: String, isTransient: Bool = false, summary: String? = nil, advice: String) {
        self.name = name
        self.isTransient = isTransient
        self.advice = advice
        self.summary = summary ?? name
    }

    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The kinds of failures of one area of Keel.
///
/// Codes are static members of an open set, so later versions can add one without breaking a caller's `switch`. A
/// conforming type is a struct whose only stored property is ``kind``.
public protocol KeelErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's description.
    var kind: ErrorKind { get }

    /// The name of the code, stable across versions and safe as a metric label.
    var name: String { get }

    /// Whether the same call may succeed when it is repeated a little later.
    var isTransient: Bool { get }

    /// Advice for the reader of the error, in one or two sentences.
    var advice: String { get }

    /// Creates a code.
    init(kind: ErrorKind)

    /// The codes that this version of Keel itself reports.
    static var known: [Self] { get }

    /// The call was canceled by its caller.
    static var cancelled: Self { get }
}

extension KeelErrorCode {
    /// Creates a code, for an adapter whose failure none of the known codes describes; see ``ErrorKind`` for its
    /// properties.
    public init(name: String, isTransient: Bool = false, summary: String? = nil, advice: String) {
        self.init(
            kind: ErrorKind(name: name, isTransient: isTransient, summary: summary, advice: advice)
        )
    }

    public var name: String { kind.name }

    public var isTransient: Bool { kind.isTransient }

    public var advice: String { kind.advice }

    /// The message of errors without their own.
    package var summary: String { kind.summary }

    public var description: String { name }

    /// Returns the code of a failure that repeats with the call; it is named after the calling property.
    package static func permanent(_ advice: String, name: String = #function) -> Self {
        Self(name: name, advice: advice)
    }

    /// Returns the code of a failure that may pass; it is named after the calling property.
    package static func transient(_ advice: String, name: String = #function) -> Self {
        Self(name: name, isTransient: true, advice: advice)
    }
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

    /// The code, the message and the description of the cause.
    public var description: String {
        guard let cause else { return "\(code.name): \(message)" }
        return "\(code.name): \(message) (cause: \(cause))"
    }
}
