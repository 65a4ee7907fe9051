import HTTPTypes
import KeelArgon2
import KeelCore
public import KeelHTTP
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The name and password of HTTP's basic scheme (RFC 7617).
///
/// The password is a secret: descriptions, dumps and mirrors omit it.
public struct BasicCredentials: Sendable {
    /// The user's name.
    public let user: String

    private let password: String

    /// Creates credentials; nil if the name contains a colon, or either text a control character.
    public init?(user: String, password: String) {
        let isClean = (user + password).unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F
        }
        guard isClean, !user.utf8.contains(UInt8(ascii: ":")) else { return nil }
        self.user = user
        self.password = password
    }

    /// The value of the `Authorization` field, with the credentials encoded as UTF-8.
    public var authorization: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// A digest of the name and the password that is stable across restarts.
    ///
    /// Passwords can be easy to guess: Argon2id makes each guess from the digest cost some milliseconds and 4 MiB.
    fileprivate var name: String {
        let salt = BLAKE2b.hash(Array("keel basic \(user)".utf8), count: 16)
        let cost = Argon2Cost(memory: 4096, passes: 1)
        return Hexadecimal.text(
            of: Argon2(cost: cost, count: 16).hash(Array(password.utf8), salt: salt)
        )
    }
}

extension BasicCredentials:
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public var description: String { "BasicCredentials(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A layer that signs calls with a user's name and password (RFC 7617).
///
/// It signs the same calls as ``BearerAuthorization``, but does not repeat a refused call.
public struct BasicAuthorization: HTTPAuthorizing, DeadlineEnforcing {
    private let credentials: BasicCredentials
    private let origins: Set<HTTPOrigin>
    private let name = Name()

    /// Computed on first use, which takes some milliseconds.
    private final class Name: Sendable {
        let text = Mutex<String?>(nil)
    }

    /// Creates the layer for the origins that may receive the password.
    public init(_ credentials: BasicCredentials, origins: Set<HTTPOrigin>) {
        self.credentials = credentials
        self.origins = origins
    }

    /// A hash of the user's name and password (Argon2id), stable across restarts.
    ///
    /// With another password, even the same name gets none of the user's cached responses.
    public var identity: String? {
        get async { computedName }
    }

    private var computedName: String? {
        name.text.withLock { text in
            if text == nil { text = credentials.name }
            return text
        }
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard call.options.authentication != .none, call.head.headerFields[.authorization] == nil,
            let origin = HTTPOrigin(call.head), origins.contains(origin)
        else { return try await next(call) }
        if let owner = call.options.owner, owner != computedName {
            throw TransportError.sentForAnotherUser(call)
        }
        var signed = call
        signed.head.headerFields[.authorization] = credentials.authorization
        return try await next(signed)
    }
}

extension BasicAuthorization: OriginAuthorizing {
    package func signs(_ origin: HTTPOrigin) -> Bool { origins.contains(origin) }
}

extension NetworkClient.Configuration {
    /// Signs all calls to the base URL's origin with a user's name and password.
    ///
    /// The layer is placed as that of `authorize(with:alsoAt:)`.
    public mutating func authorize(with credentials: BasicCredentials) {
        guard let home = HTTPOrigin(baseURL) else { return }
        add(BasicAuthorization(credentials, origins: [home]))
    }
}
