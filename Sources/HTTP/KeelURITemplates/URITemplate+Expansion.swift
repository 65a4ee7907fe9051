import KeelCore
internal import KeelHTTP

extension URITemplate.Mark {
    fileprivate var first: String {
        switch self {
        case .simple, .reserved: ""
        default: String(Unicode.Scalar(rawValue))
        }
    }

    fileprivate var separator: String {
        switch self {
        case .simple, .reserved, .fragment: ","
        case .query: "&"
        default: first
        }
    }

    fileprivate var isNamed: Bool {
        [.parameter, .query, .continuation].contains(self)
    }

    /// The text between a name and an empty value.
    fileprivate var beforeEmpty: String { self == .parameter ? "" : "=" }

    /// Whether reserved characters and percent triplets of a value are kept.
    var keepsReserved: Bool { self == .reserved || self == .fragment }

    fileprivate func encode(_ text: some StringProtocol) -> String {
        keepsReserved
            ? PercentEncoding.encodeReserved(Array(text.utf8))
            : PercentEncoding.encode(String(text))
    }
}

extension URITemplate.Expression {
    /// Returns the expansion of the expression (RFC 6570 section 3.2.1).
    func expanded(_ values: [String: URITemplate.Value]) throws(URITemplateError) -> String {
        var pieces: [String] = []
        for variable in variables {
            guard let value = values[variable.name], !value.isUndefined else { continue }
            pieces.append(try expanded(variable, value))
        }
        return pieces.isEmpty ? "" : mark.first + pieces.joined(separator: mark.separator)
    }

    private func expanded(
        _ variable: URITemplate.Variable,
        _ value: URITemplate.Value
    ) throws(URITemplateError) -> String {
        switch (value, variable.modifier) {
        case (.string(let text), .prefix(let length)):
            return named(variable.name, mark.encode(prefix(of: text, length)))
        case (.string(let text), _):
            return named(variable.name, mark.encode(text))
        case (_, .prefix):
            throw URITemplateError(.prefixOfComposite, at: variable.offset)
        case (.list(let texts), .explode):
            return texts.map { named(variable.name, mark.encode($0)) }
                .joined(separator: mark.separator)
        case (.list(let texts), nil):
            return named(variable.name, texts.map(mark.encode).joined(separator: ","))
        case (.pairs(let items), .explode):
            return items.map { item in
                let value = mark.encode(item.value)
                let equals = mark.isNamed && value.isEmpty ? mark.beforeEmpty : "="
                return mark.encode(item.name) + equals + value
            }
            .joined(separator: mark.separator)
        case (.pairs(let items), nil):
            let texts = items.flatMap { [mark.encode($0.name), mark.encode($0.value)] }
            return named(variable.name, texts.joined(separator: ","))
        }
    }

    private func named(_ name: String, _ value: String) -> String {
        guard mark.isNamed else { return value }
        return name + (value.isEmpty ? mark.beforeEmpty : "=" + value)
    }

    /// Returns the first characters (Unicode scalars) of a text.
    ///
    /// If percent triplets are kept, each counts as one character: the RFC forbids splitting it.
    private func prefix(of text: String, _ length: Int) -> String {
        guard mark.keepsReserved else {
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
        }
        var rest = text.unicodeScalars[...]
        var prefix = String.UnicodeScalarView()
        for _ in 0..<length {
            guard let scalar = rest.first else { break }
            let triplet = rest.prefix(3)
            let count =
                scalar == "%" && PercentEncoding.isTriplet(Array(Substring(triplet).utf8)[...])
                ? 3 : 1
            prefix.append(contentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return String(prefix)
    }
}

extension URITemplate.Value {
    var isUndefined: Bool {
        switch self {
        case .string: false
        case .list(let texts): texts.isEmpty
        case .pairs(let items): items.isEmpty
        }
    }

    var hasEmptyText: Bool {
        switch self {
        case .string(let text): text.isEmpty
        case .list(let texts): texts.contains("")
        case .pairs(let items): items.contains { $0.name.isEmpty || $0.value.isEmpty }
        }
    }
}
