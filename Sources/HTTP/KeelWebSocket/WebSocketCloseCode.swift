/// The reason for closing a WebSocket connection: the number in a Close frame (RFC 6455 section 7.4).
///
/// Applications define their own codes from 4000 to 4999.
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Creates a code from any number; ``isSendable`` says whether it is valid.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a code of an application or a framework.
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    public static let normal = Self(1000)
    /// An endpoint goes away: a server shuts down, or an app leaves the screen.
    public static let goingAway = Self(1001)
    /// The peer violated the protocol.
    public static let protocolError = Self(1002)
    /// The peer sent an unsupported type of message.
    public static let unsupportedData = Self(1003)
    /// The Close frame contained no code; never sent.
    public static let noStatus = Self(1005)
    /// The connection ended without a Close frame; never sent.
    public static let abnormal = Self(1006)
    /// A message contains data that its type does not allow, such as text that is not UTF-8.
    public static let invalidPayload = Self(1007)
    /// A message violates a rule that has no specific code.
    public static let policyViolation = Self(1008)
    /// A message is too big.
    public static let messageTooBig = Self(1009)
    /// The server did not agree to an extension that the client requires.
    public static let mandatoryExtension = Self(1010)
    /// The server encountered an unexpected condition.
    public static let internalError = Self(1011)
    /// The server restarts.
    public static let serviceRestart = Self(1012)
    /// The server is overloaded.
    public static let tryAgainLater = Self(1013)
    /// A gateway received an invalid response from its upstream server.
    public static let badGateway = Self(1014)

    /// Whether the code may occur in a Close frame.
    ///
    /// These are 1000 to 1003, 1007 to 1014 (as registered with IANA), and 3000 to 4999.
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Whether the connection ended as intended.
    ///
    /// True for 1000 and 1001, and for a Close frame without a code.
    public var isOrderly: Bool { self == .normal || self == .goingAway || self == .noStatus }

    public var description: String { String(rawValue) }
}

/// The content of a Close frame.
public struct WebSocketClose: Hashable, Sendable {
    /// The code; ``WebSocketCloseCode/noStatus`` if the frame contained none.
    public let code: WebSocketCloseCode

    /// The reason, meant for developers; empty if there is none.
    public let reason: String

    /// Creates the content of a Close frame.
    public init(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// The maximum length of a reason in bytes of UTF-8: a control frame holds 125, the code takes 2.
    public static let maximumReasonLength = 123
}
