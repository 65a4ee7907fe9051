public import KeelHTTP

extension EndpointPath {
    /// Creates a path, and a part of the query, from a URI template (RFC 6570).
    ///
    /// ```swift
    /// var path: EndpointPath {
    ///     EndpointPath(template: "/users/{id}{?fields*}", ["id": "\(id)", "fields": .list(fields)])
    /// }
    /// ```
    ///
    /// The expansions of `{?…}` and `{&…}`, and everything after a question mark of the template, become part of the
    /// query, before the endpoint's own `ServiceEndpoint.query`.
    ///
    /// The guarantees of a literal path hold here too. A call fails with `NetworkError.Code.invalidURL` if the template
    /// is not valid or has a fragment, or if a value in the path is missing from `{id}` or is empty. Values of `{id}`,
    /// `{.id}`, `{/id}` and `{;id}` stay inside their segments. A value of `{+path}` may contain slashes, but cannot
    /// leave the base URL: dot segments, question marks and number signs are refused. In the query, a value of
    /// `{+more}` may add parameters.
    public init(template: String, _ values: [String: URITemplate.Value]) {
        do throws(URITemplateError) {
            self.init(template: try URITemplate(template), values)
        } catch {
            self.init(refusedFor: error.description)
        }
    }

    /// Creates a path, and a part of the query, from a parsed URI template.
    ///
    /// The guarantees are those of the initializer that takes the template as text.
    public init(template: URITemplate, _ values: [String: URITemplate.Value]) {
        var target = TemplateTarget()
        do throws(URITemplateError) {
            for part in template.parts { try target.append(part, values) }
        } catch {
            self.init(refusedFor: error.description)
            return
        }
        if let refusal = target.refusal {
            self.init(refusedFor: refusal)
        } else {
            self.init(encoded: target.path, query: target.query)
        }
    }
}

private struct TemplateTarget {
    var path = ""
    var query = ""
    var refusal: String?
    private var isInQuery = false

    mutating func append(
        _ part: URITemplate.Part,
        _ values: [String: URITemplate.Value]
    ) throws(URITemplateError) {
        switch part {
        case .literal(let text):
            append(literal: text)
        case .expression(let expression):
            let text = try expression.expanded(values)
            switch expression.mark {
            case .query, .continuation:
                isInQuery = true
                add(parameters: text.dropFirst())
            case .fragment:
                refusal = "The template contains a fragment, which is never sent."
            default:
                append(text, of: expression, values)
            }
        }
    }

    private mutating func append(literal text: String) {
        guard !text.contains("#") else {
            refusal = "The template contains a fragment, which is never sent."
            return
        }
        guard !isInQuery, let mark = text.firstIndex(of: "?") else {
            if isInQuery { query += text } else { path += text }
            return
        }
        path += text[..<mark]
        isInQuery = true
        query += text[text.index(after: mark)...]
    }

    private mutating func append(
        _ text: String,
        of expression: URITemplate.Expression,
        _ values: [String: URITemplate.Value]
    ) {
        if expression.mark.keepsReserved, text.contains("#") || !isInQuery && text.contains("?") {
            refusal = "A value of the path contains a question mark or a number sign."
        }
        if isInQuery {
            query += text
            return
        }
        path += text
        if expression.mark != .parameter, let name = emptyVariable(of: expression, values) {
            refusal = "The value '\(name)' of the path is missing or empty."
        }
    }

    /// Returns the first variable whose value would leave a segment empty.
    ///
    /// Labels and segments may be omitted altogether.
    private func emptyVariable(
        of expression: URITemplate.Expression,
        _ values: [String: URITemplate.Value]
    ) -> String? {
        let mayBeMissing = expression.mark == .label || expression.mark == .segment
        return expression.variables.first { variable in
            guard let value = values[variable.name], !value.isUndefined else {
                return !mayBeMissing
            }
            return value.hasEmptyText
        }?.name
    }

    private mutating func add(parameters: some StringProtocol) {
        guard !parameters.isEmpty else { return }
        if !query.isEmpty, !query.hasSuffix("&") { query += "&" }
        query += parameters
    }
}
