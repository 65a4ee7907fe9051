public import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ArchivedBody {
    var text: String?
    var encoding: String?
    var comment: String?

    init(_ bytes: [UInt8], type: String?, coding: String?, rules: RecordingRules) {
        guard !bytes.isEmpty else { return }
        guard bytes.count <= rules.bodyLimit else {
            comment = "A body of more than \(rules.bodyLimit) bytes is left out."
            return
        }
        // Redaction cannot look into an encoded body.
        let shown =
            coding == nil ? rules.redactor.redactBody(bytes, contentType: type) : nil
        guard let kept = shown ?? (rules.keepsUnknownBodies ? bytes : nil) else {
            comment = "A body whose type cannot be looked through is left out."
            return
        }
        if let string = String(validating: kept, as: UTF8.self) {
            text = string
        } else {
            text = Data(kept).base64EncodedString()
            encoding = "base64"
        }
    }

    static func bytes(_ text: String?, _ encoding: String?) -> [UInt8] {
        guard let text else { return [] }
        guard encoding == "base64" else { return Array(text.utf8) }
        return Data(base64Encoded: text).map { Array($0) } ?? []
    }
}

/// The rules for the contents of a recording.
public struct RecordingRules: Sendable {
    /// The redactor that removes secrets.
    ///
    /// Queries lose only their sensitive items, because the rest distinguishes calls.
    public var redactor = Redactor(query: .sensitive)

    /// The largest recorded body, in bytes; larger ones are left out.
    public var bodyLimit = 1024 * 1024

    /// Whether bodies that cannot be searched for secrets, such as images and compressed ones, are kept.
    public var keepsUnknownBodies = false

    /// Creates the default rules.
    public init() {}
}
