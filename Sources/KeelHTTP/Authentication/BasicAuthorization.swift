import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A user's name and password as HTTP's basic scheme sends them (RFC 7617).
///
/// The password is a secret: descriptions, dumps and mirrors leave it out.
public struct BasicCredentials: Sendable {
    /// The user's name.
    public let user: String

    private let password: String

    /// Creates credentials; nil if the name has a colon or either text a control character.
    public init?(user: String, password: String) {
        let isClean = (user + password).unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F
        }
        guard isClean, !user.contains(":") else { return nil }
        self.user = user
        self.password = password
    }

    /// The value of the `Authorization` field, encoded as UTF-8.
    public var authorization: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

extension BasicCredentials:
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public var description: String { "BasicCredentials(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Signs calls with a user's name and password (RFC 7617).
///
/// The same calls are signed that ``BearerAuthorization`` would sign; nothing is sent again.
public struct BasicAuthorization: HTTPMiddleware, DeadlineKeeping {
    private let credentials: BasicCredentials
    private let origins: Set<HTTPOrigin>

    /// Creates the layer for the origins that may see the password.
    public init(_ credentials: BasicCredentials, origins: Set<HTTPOrigin>) {
        self.credentials = credentials
        self.origins = origins
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard call.options.authentication != .none, call.head.headerFields[.authorization] == nil,
            let origin = HTTPOrigin(call.head), origins.contains(origin)
        else { return try await next(call) }
        var signed = call
        signed.head.headerFields[.authorization] = credentials.authorization
        return try await next(signed)
    }
}

extension NetworkClient.Configuration {
    /// Signs all calls to the base URL's origin with a user's name and password.
    public mutating func authorize(with credentials: BasicCredentials) {
        guard let home = HTTPOrigin(baseURL) else { return }
        // The password never changes: a name for this authorization is enough.
        let identity = String(UInt64.random(in: .min ... .max), radix: 16)
        options.signer = CallSigner { identity }
        attemptMiddleware.append(BasicAuthorization(credentials, origins: [home]))
    }
}
