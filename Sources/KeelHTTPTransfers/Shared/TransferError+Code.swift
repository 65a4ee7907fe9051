public import KeelCore

extension TransferError {
    /// A kind of transfer failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// The message of errors without their own.
        let summary: String

        private init(
            _ name: String,
            isTransient: Bool = false,
            _ summary: String,
            advice: String
        ) {
            self.name = name
            self.isTransient = isTransient
            self.summary = summary
            self.advice = advice
        }

        public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

// MARK: - The network and the server

extension TransferError.Code {
    /// The connection failed more often in a row than the retry policy allows.
    public static let connection = Self(
        "connection",
        isTransient: true,
        "The connection failed too often.",
        advice: "Run the transfer again when there is a network: it goes on where it stopped."
    )
    /// The exchange failed for a reason that a retry does not fix.
    public static let exchange = Self(
        "exchange",
        "The exchange with the server failed.",
        advice: "See the cause; after it is mended, run the transfer again to continue it."
    )
    /// The server was unavailable more often in a row than the retry policy allows.
    public static let unavailable = Self(
        "unavailable",
        isTransient: true,
        "The server cannot serve the request now.",
        advice: "Run the transfer again later: it goes on where it stopped."
    )
    /// The server permanently refused the request.
    public static let refused = Self(
        "refused",
        "The server refused the request.",
        advice: "Look at the status. With a fresh address or new credentials the same transfer "
            + "can be continued."
    )
    /// The response violates HTTP or the upload protocol.
    public static let invalidResponse = Self(
        "invalidResponse",
        "The answer of the server is not valid.",
        advice: "Check that the address belongs to the service; a login page may be in between."
    )
    /// The server sends the file with a content coding although none was requested.
    public static let contentCoded = Self(
        "contentCoded",
        "The server sends the file with a content coding, although asked for none.",
        advice: "Switch compression off for this file at the server, or use the client's own "
            + "download, which decodes and does not resume."
    )
    /// The file at the server changed more often than the configuration allows.
    public static let changing = Self(
        "changing",
        "The file at the server changed again and again while it was read.",
        advice: "Run the transfer again when the file is at rest, or ask for a fixed version of it."
    )
    /// The bytes do not have the expected digest; the part on disk was removed.
    public static let digestMismatch = Self(
        "digestMismatch",
        "The file does not have the digest that was expected.",
        advice: "Check the expected digest, then run the transfer again: it begins anew."
    )
    /// The address is not usable for a request.
    public static let invalidAddress = Self(
        "invalidAddress",
        "The address is not one that can be used.",
        advice: "Give an http or https address, absolute or relative to the client's base URL."
    )
}

// MARK: - Uploads

extension TransferError.Code {
    /// The server does not support the protocol for resumable uploads.
    public static let resumptionUnsupported = Self(
        "resumptionUnsupported",
        "The server does not offer resumable uploads by this protocol.",
        advice: "Choose the protocol that the server speaks, or let the configuration send the "
            + "file as one plain request."
    )
    /// The server has forgotten the upload, and it may not be restarted.
    public static let expired = Self(
        "expired",
        "The server has no such upload any more.",
        advice: "Discard the transfer and run it again: it begins anew."
    )
    /// All bytes were sent, and the server's response was lost.
    public static let outcomeUnknown = Self(
        "outcomeUnknown",
        "All bytes were sent, and the server no longer knows whether they arrived.",
        advice: "Ask the service whether it has the file. If not, discard the transfer and run it "
            + "again."
    )
    /// The file to send has changed since the upload began.
    public static let sourceChanged = Self(
        "sourceChanged",
        "The file to send has changed since its upload began.",
        advice: "Discard the transfer and run it again to send the new contents."
    )
    /// The file to send does not exist.
    public static let sourceNotFound = Self(
        "sourceNotFound",
        "The file to send is not there.",
        advice: "Check the path of the file."
    )
    /// The file exceeds the server's limit.
    public static let tooLarge = Self(
        "tooLarge",
        "The file is larger than the server accepts.",
        advice: "Send a smaller file, or raise the limit of the server."
    )
}

// MARK: - This machine

extension TransferError.Code {
    /// The disk is full, or the user's quota is exhausted.
    public static let noSpace = Self(
        "noSpace",
        "There is no room on the disk.",
        advice: "Free some space, then run the transfer again: it goes on where it stopped."
    )
    /// The user lacks the permission to read or write there.
    public static let notPermitted = Self(
        "notPermitted",
        "The system does not permit it.",
        advice: "Check the permissions of the file and its folder, and that the disk is writable."
    )
    /// The folder of the file does not exist.
    public static let folderNotFound = Self(
        "folderNotFound",
        "The folder of the file is not there.",
        advice: "Make the folder first."
    )
    /// Another transfer uses the same file, in this process or another.
    public static let inUse = Self(
        "inUse",
        "Another transfer works on the same file.",
        advice: "Wait for it or cancel it; two of them would write into one file."
    )
    /// A file operation failed for another reason, such as a failing disk.
    public static let fileSystem = Self(
        "fileSystem",
        "A file could not be read or written.",
        advice: "See the cause for the system's own words."
    )
    /// The configuration is invalid.
    public static let invalidConfiguration = Self(
        "invalidConfiguration",
        "The transfer cannot be made as it was asked for.",
        advice: "Correct the call as the message says."
    )
    /// The task that ran the transfer was canceled, which pauses the transfer.
    public static let cancelled = Self(
        "cancelled",
        "The transfer was stopped by its caller.",
        advice: "Run the transfer again to continue it, or discard it."
    )
}

extension TransferError.Code {
    public static let known: [Self] = [
        .connection, .exchange, .unavailable, .refused, .invalidResponse, .contentCoded, .changing,
        .digestMismatch, .invalidAddress, .resumptionUnsupported, .expired, .outcomeUnknown,
        .sourceChanged, .sourceNotFound, .tooLarge, .noSpace, .notPermitted, .folderNotFound,
        .inUse, .fileSystem, .invalidConfiguration, .cancelled,
    ]
}
