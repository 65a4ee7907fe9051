public import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A body as an archive holds it.
struct ArchivedBody {
    var text: String?
    var encoding: String?
    /// Why it is not whole.
    var comment: String?

    init(_ bytes: [UInt8], type: String?, coding: String?, rules: RecordingRules) {
        guard !bytes.isEmpty else { return }
        guard bytes.count <= rules.bodyLimit else {
            comment = "A body of more than \(rules.bodyLimit) bytes is left out."
            return
        }
        // A coded body hides its secrets from any rule.
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

    /// The bytes behind a text of an archive.
    static func bytes(_ text: String?, _ encoding: String?) -> [UInt8] {
        guard let text else { return [] }
        guard encoding == "base64" else { return Array(text.utf8) }
        return Data(base64Encoded: text).map { Array($0) } ?? []
    }
}

/// What a recording keeps.
public struct RecordingRules: Sendable {
    /// What takes secrets out.
    ///
    /// Queries lose only their sensitive items, because the rest tells calls apart.
    public var redactor = Redactor(query: .sensitive)

    /// The most bytes that a recorded body may have.
    public var bodyLimit = 1024 * 1024

    /// Whether bodies are kept that nobody can look through for secrets, such as images.
    public var keepsUnknownBodies = false

    /// Creates the usual rules.
    public init() {}
}
