public import KeelCore

/// The reason why a session could not be signed in, renewed or signed out.
///
/// The message and the description contain no token. The description omits the text of a cause that is not one of
/// Keel's errors, because identity servers tend to quote the request.
public struct AuthenticationError: KeelError, CustomDebugStringConvertible {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error; the message must not contain a token, and nil uses the code's own.
    public init(_ code: Code, _ message: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message ?? code.summary
        self.cause = cause
    }

    /// The code and the message on one line, with the cause's text if it is one of Keel's errors, and its type
    /// otherwise.
    public var description: String {
        guard let cause else { return "\(code.name): \(message)" }
        guard let known = cause as? any KeelError else {
            return "\(code.name): \(message) (cause: \(type(of: cause)))"
        }
        return "\(code.name): \(message) (cause: \(known))"
    }

    public var debugDescription: String { description }
}

extension AuthenticationError: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message])
    }
}

extension AuthenticationError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension AuthenticationError.Code {
    /// No user is signed in, or the session of the call has ended.
    public static let signedOut = Self(
        name: "signedOut",
        summary: "Nobody is signed in.",
        advice: "Sign in, then make the call again."
    )
    /// The identity server refuses to renew the credentials; the session has ended.
    public static let denied = Self(
        name: "denied",
        summary: "The identity server refuses to renew the credentials.",
        advice: "Sign in again: the grant was used up, revoked or has expired."
    )
    /// The credentials are no longer valid and cannot be renewed.
    public static let expired = Self(
        name: "expired",
        summary: "The credentials have expired and cannot be renewed.",
        advice: "Sign in again; ask the identity server for a refresh token to avoid this."
    )
    /// The identity server could not be asked; the credentials are unchanged.
    public static let refreshFailed = Self(
        name: "refreshFailed",
        isTransient: true,
        summary: "The credentials could not be renewed.",
        advice: "Try again later; the cause says why the identity server did not answer."
    )
    /// The credentials were renewed too often in a short time.
    public static let tooManyRefreshes = Self(
        name: "tooManyRefreshes",
        isTransient: true,
        summary: "The credentials were renewed too often in a short time.",
        advice: "The service may refuse valid tokens: check its clock and its audience."
    )
    /// The credential store could not be read or written.
    public static let storeFailed = Self(
        name: "storeFailed",
        isTransient: true,
        summary: "The credentials could not be read from their store or saved in it.",
        advice: "See the cause; no request is signed with credentials that are not saved."
    )
    /// A later sign-in or sign-out supersedes this call.
    public static let superseded = Self(
        name: "superseded",
        summary: "A later sign-in or sign-out superseded this one.",
        advice: "Look at the session's state: it belongs to the later call."
    )
    /// The call has an owner, but the token source does not name its user.
    public static let userUnknown = Self(
        name: "userUnknown",
        summary: "The call has an owner, but the token source does not name its user.",
        advice: "Return the user's name from the source's identity, or call without an owner."
    )
    /// The request that renews the token asked for that token.
    public static let insideRefresh = Self(
        name: "insideRefresh",
        summary: "The request that renews the token asked for that token.",
        advice: "Make the request that renews the credentials without this session's token."
    )
    /// The session has ended, but some of its clean-up failed.
    public static let cleanUpIncomplete = Self(
        name: "cleanUpIncomplete",
        isTransient: true,
        summary: "The session has ended, but its clean-up is incomplete.",
        advice: "Sign out once more to repeat the clean-up; the cause is the first failure."
    )
    /// The identity server does not know the user, or the password or token is wrong.
    public static let wrongCredentials = Self(
        name: "wrongCredentials",
        summary: "The name, the password or the token is wrong.",
        advice: "Ask the user to check them; servers often do not say which one is wrong."
    )
    /// There is an account with this name already.
    public static let accountExists = Self(
        name: "accountExists",
        summary: "An account with this name already exists.",
        advice: "Sign in instead, or let the user choose another name."
    )
    /// The identity server demands a stronger password.
    public static let weakPassword = Self(
        name: "weakPassword",
        summary: "The password is too weak.",
        advice: "Let the user choose a longer password."
    )
    /// An administrator has disabled the account.
    public static let accountDisabled = Self(
        name: "accountDisabled",
        summary: "The account is disabled.",
        advice: "An administrator can enable it again."
    )
    /// The identity server does not offer this way of signing in.
    public static let methodDisabled = Self(
        name: "methodDisabled",
        summary: "The identity server does not offer this way of signing in.",
        advice: "Enable it in the settings of the identity server."
    )
    /// The identity server refuses further attempts for a while.
    public static let tooManyAttempts = Self(
        name: "tooManyAttempts",
        isTransient: true,
        summary: "There were too many sign-in attempts.",
        advice: "Wait a few minutes, then try again."
    )
    /// The identity server could not be asked, or did not answer as expected.
    public static let signInFailed = Self(
        name: "signInFailed",
        isTransient: true,
        summary: "The sign-in request to the identity server failed.",
        advice: "Try again later; the cause says why the identity server did not answer."
    )
    /// The caller canceled the call.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )

    public static let known: [Self] = [
        .signedOut, .denied, .expired, .refreshFailed, .tooManyRefreshes, .storeFailed,
        .superseded, .userUnknown, .insideRefresh, .cleanUpIncomplete, .wrongCredentials,
        .accountExists, .weakPassword, .accountDisabled, .methodDisabled, .tooManyAttempts,
        .signInFailed, .cancelled,
    ]
}
