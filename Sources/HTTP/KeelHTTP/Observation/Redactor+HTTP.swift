public import HTTPTypes
public import KeelCore

extension Redactor {
    /// Returns header fields with the values of sensitive fields replaced.
    ///
    /// Other values are searched for secrets of a known form, and addresses are redacted as URLs.
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
            // "Product/1.2.3.4" contains a version, not an address.
            var withoutAddresses = self
            withoutAddresses.patterns.remove(.ipAddresses)
            return withoutAddresses.redact(value)
        default:
            return redact(value)
        }
    }

    /// Returns a request head that is safe to record.
    ///
    /// It has no user information; see `redactURL(_:)` for the path.
    public func redact(_ head: HTTPRequest) -> HTTPRequest {
        var redacted = head
        redacted.authority = head.authority.map { authority in
            String(authority.split(separator: "@").last ?? "")
        }
        redacted.path = head.path.map { redactURL($0) }
        redacted.headerFields = redact(head.headerFields)
        return redacted
    }

    /// Returns a response head that is safe to record.
    public func redact(_ head: HTTPResponse) -> HTTPResponse {
        var redacted = head
        redacted.status = HTTPResponse.Status(
            code: head.status.code,
            reasonPhrase: redact(head.status.reasonPhrase)
        )
        redacted.headerFields = redact(head.headerFields)
        return redacted
    }

    /// Returns an error with its target redacted, and those of the HTTP errors that caused it.
    func redact(_ error: TransportError) -> TransportError {
        var redacted = error
        redacted.url = error.url.map { redactURL($0) }
        redacted.cause = redact(cause: error.cause)
        return redacted
    }

    private func redact(cause: (any Error)?) -> (any Error)? {
        if let error = cause as? TransportError { return redact(error) }
        if let error = cause as? AuthenticationError {
            return AuthenticationError(error.code, error.message, cause: redact(cause: error.cause))
        }
        guard let error = cause as? NetworkError else { return cause }
        return NetworkError(
            error.code,
            error.message,
            url: error.url.map { redactURL($0) },
            cause: redact(cause: error.cause)
        )
    }

    /// Returns a body that is safe to record, or nil if it is not JSON, a form or text.
    package func redactBody(_ bytes: [UInt8], contentType: String?) -> [UInt8]? {
        switch BodyKind(contentType) {
        case .json: redactJSON(bytes)
        case .form: Array(redactForm(String(decoding: bytes, as: UTF8.self)).utf8)
        case .text: Array(redact(String(decoding: bytes, as: UTF8.self)).utf8)
        case .other: nil
        }
    }
}

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
