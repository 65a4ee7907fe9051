#if Crypto
internal import Crypto
internal import KeelCore

/// The canonical form of a request, which both sides hash.
///
/// The steps are those of "Create a canonical request" in AWS's "Signature Version 4 signing process",
/// docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
struct CanonicalRequest: Sendable {
    let signedFields: String
    let text: String

    /// Creates the canonical form; the query is not encoded, and the fields are in the order of the request.
    init(
        method: String,
        path: String,
        query: [(name: String, value: String)],
        fields: [(name: String, value: String)],
        payload: String,
        rules: AWSSignatureV4.Rules
    ) {
        let fields = Self.canonical(fields)
        signedFields = fields.map(\.name).joined(separator: ";")
        let lines = [
            method,
            Self.path(path, rules),
            Self.query(query),
            fields.map { "\($0.name):\($0.value)\n" }.joined(),
            signedFields,
            payload,
        ]
        text = lines.joined(separator: "\n")
    }

    func stringToSign(_ time: SignatureTime, scope: String) -> String {
        let hash = Hexadecimal.text(of: SHA256.hash(data: Array(text.utf8)))
        return [AWSSignatureV4.algorithm, time.text, scope, hash].joined(separator: "\n")
    }

    // MARK: Parts

    private static func path(_ path: String, _ rules: AWSSignatureV4.Rules) -> String {
        var path = path.isEmpty ? "/" : path
        if rules.normalizesPath { path = normalized(path) }
        return rules.encodesPath ? PercentEncoding.encode(path, keepsSlashes: true) : path
    }

    /// Returns the path without empty and relative segments (RFC 3986, section 5.2.4, and no `//`).
    private static func normalized(_ path: String) -> String {
        var segments: [Substring] = []
        // Split by bytes: Swift treats a “/” with a combining accent as one character.
        for segment in path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init) {
            switch segment {
            case ".": continue
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        let isFolder = path.utf8.last == UInt8(ascii: "/") && !segments.isEmpty
        return "/" + segments.joined(separator: "/") + (isFolder ? "/" : "")
    }

    static func query(_ query: [(name: String, value: String)]) -> String {
        query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
            .sorted { left, right in
                left.0 == right.0
                    ? left.1.utf8.lexicographicallyPrecedes(right.1.utf8)
                    : left.0.utf8.lexicographicallyPrecedes(right.0.utf8)
            }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Returns the fields with lowercase names, merged and sorted, with whitespace in values collapsed.
    private static func canonical(
        _ fields: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for field in fields {
            values[field.name.lowercased(), default: []].append(trimmed(field.value))
        }
        return values.map { (name: $0.key, value: $0.value.joined(separator: ",")) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func trimmed(_ value: String) -> String {
        let words = value.utf8.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        return words.map { String(Substring($0)) }.joined(separator: " ")
    }
}
#endif
