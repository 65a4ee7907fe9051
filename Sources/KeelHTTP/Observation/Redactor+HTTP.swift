public import HTTPTypes
public import KeelCore

extension Redactor {
    /// Returns header fields with the values of sensitive ones replaced.
    ///
    /// The values of all others are looked through for what is known by its form; in fields that
    /// hold an address, it is treated as a URL.
    public func redact(_ fields: HTTPFields) -> HTTPFields {
        var redacted = HTTPFields()
        redacted.reserveCapacity(fields.count)
        for field in fields {
            redacted.append(
                HTTPField(name: field.name, value: redact(field.value, of: field.name))
            )
        }
        return redacted
    }

    private func redact(_ value: String, of name: HTTPField.Name) -> String {
        if isSensitive(name.canonicalName) { return marker.replacement(for: value.utf8) }
        switch name {
        case .location, .contentLocation, .referer:
            return redactURL(value)
        case .userAgent, .server:
            // "Product/1.2.3.4" is a version.
            var withoutAddresses = self
            withoutAddresses.patterns.remove(.ipAddresses)
            return withoutAddresses.redact(value)
        default:
            return redact(value)
        }
    }

    /// Returns the head of a request as it may be written down.
    ///
    /// User information goes out of the authority; see `redactURL(_:)` for the path.
    public func redact(_ head: HTTPRequest) -> HTTPRequest {
        var redacted = head
        redacted.authority = head.authority.map { authority in
            String(authority.split(separator: "@").last ?? "")
        }
        redacted.path = head.path.map { redactURL($0) }
        redacted.headerFields = redact(head.headerFields)
        return redacted
    }

    /// Returns the head of a response as it may be written down.
    public func redact(_ head: HTTPResponse) -> HTTPResponse {
        var redacted = head
        redacted.status = HTTPResponse.Status(
            code: head.status.code,
            reasonPhrase: redact(head.status.reasonPhrase)
        )
        redacted.headerFields = redact(head.headerFields)
        return redacted
    }

    /// Returns a body as it may be written down, or nil if its type is not one that can be read.
    ///
    /// JSON, forms and plain text can be. Everything else may hide its secrets: leave it out.
    public func redactBody(_ bytes: [UInt8], contentType: String?) -> [UInt8]? {
        switch BodyKind(contentType) {
        case .json: redactJSON(bytes)
        case .form: Array(redactForm(String(decoding: bytes, as: UTF8.self)).utf8)
        case .text: Array(redact(String(decoding: bytes, as: UTF8.self)).utf8)
        case .other: nil
        }
    }
}

/// How a body is written, as far as a reader of logs cares.
package enum BodyKind: Sendable, Hashable {
    case json
    case form
    case text
    case other

    package init(_ contentType: String?) {
        let type = (contentType ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
        switch type {
        case "application/json", "text/json", "application/x-ndjson", "application/jsonl":
            self = .json
        case "application/x-www-form-urlencoded": self = .form
        case "text/plain", "text/event-stream", "text/csv": self = .text
        default: self = type.hasSuffix("+json") ? .json : .other
        }
    }
}
