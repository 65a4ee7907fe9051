#if PostgreSQL
internal import CLibPQ

/// An error that the server or the connection reported, without the server's details, which may contain values.
struct DatabaseFailure: Error, CustomStringConvertible {
    /// The SQLSTATE; empty if libpq reports none for a statement.
    let state: String
    let message: String
    /// The server's source file that reported the error; empty if it was not the server.
    ///
    /// Messages may be in any language.
    var file = ""
    var isConnectionLost = false

    init(state: String, _ message: String, isConnectionLost: Bool = false) {
        self.state = state
        self.message = message
        self.isConnectionLost = isConnectionLost
    }

    init(_ result: OpaquePointer) {
        state = Self.field("C", of: result) ?? ""
        message = Self.field("M", of: result) ?? "the statement failed"
        file = Self.field("F", of: result) ?? ""
    }

    static func lost(_ message: String) -> Self {
        Self(state: "08006", message, isConnectionLost: true)
    }

    /// The failure of opening a connection, from libpq's verbose message.
    ///
    /// libpq reports without a code that a password is missing, and that a server does not prove that it knows the
    /// password.
    static func ofConnecting(_ message: String, needsPassword: Bool = false) -> Self {
        // The first line has the server's code, the next ones the place in its sources.
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
        let text = lines.joined(separator: "; ")
        let code = text.split(separator: " ").first { word in
            word.count == 6 && word.hasSuffix(":")
                && word.dropLast().allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
                && word.contains(where: \.isNumber)
        }
        let own =
            if needsPassword {
                "28P01"
            } else if text.contains("channel binding") {
                "28000"
            } else {
                "08001"
            }
        return Self(
            state: code.map { String($0.dropLast()) } ?? own,
            text,
            isConnectionLost: true
        )
    }

    /// Whether a server was reached and has a reason of its own to refuse the connection, such as a wrong password.
    ///
    /// False for a host that is down, is starting, or is a standby.
    var isRefusal: Bool { !["08", "57"].contains(state.prefix(2)) }

    /// Whether a server was reached that does not encrypt, or whose certificate cannot be verified: libpq has no codes
    /// for this.
    var isOfEncryption: Bool { message.contains("SSL") || message.contains("certificate") }

    var isLackOfConnections: Bool { state == "53300" }

    var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

    static func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
    }
}

enum WaitingEnd: Error {
    case cancelled
    case timeout
}
#endif
