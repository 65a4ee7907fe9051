#if canImport(Darwin)
import Foundation

/// The purpose of a background task, passed to later processes in the task's description.
struct BackgroundTask: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        case download
        case upload
    }

    let kind: Kind
    /// The file of the transfer, relative to the user's folder, which app updates may move.
    private let file: String
    /// The address of a download; for an upload, distinguishes several uploads of one file.
    let address: DownloadAddress
    var piece: UploadPiece?

    init(_ kind: Kind, path: String, address: DownloadAddress) {
        self.kind = kind
        file = Self.abbreviated(path, below: NSHomeDirectory())
        self.address = address
    }

    var path: String { Self.expanded(file, below: NSHomeDirectory()) }

    var key: String { kind == .download ? "download \(file)" : "upload \(address.place) \(file)" }

    static func abbreviated(_ path: String, below home: String) -> String {
        path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }

    static func expanded(_ path: String, below home: String) -> String {
        path.hasPrefix("~/") ? home + path.dropFirst() : path
    }

    /// The description of a task; contains no credentials, and only a checksum of a query.
    var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init?(description: String?) {
        guard let description,
            let task = try? JSONDecoder().decode(Self.self, from: Data(description.utf8))
        else { return nil }
        self = task
    }
}
#endif
