import HTTPTypes

/// Which stored response fits a request (RFC 9111 section 4.1).
enum VaryMatch {
    /// Whether no later request can be matched with the response.
    static func isNeverMatched(_ fields: HTTPFields) -> Bool {
        let members = FieldList.members(fields[values: .vary])
        return members.contains { $0 == "*" || HTTPField.Name($0) == nil }
    }

    /// What the request says in the fields that the response depends on.
    ///
    /// - Parameters:
    ///   - response: The fields of the response.
    ///   - request: The fields of the request at the cache.
    ///   - sent: The fields of the request as it was sent; nil where nobody knows them.
    ///   - coversAuthorization: Whether the response is kept for the one user whose credentials are
    ///     added below.
    /// - Returns: The selecting fields; nil where layers below the cache have decided them, so that no
    ///   later request can be matched with the response.
    static func selectors(
        of response: HTTPFields,
        from request: HTTPFields,
        sent: HTTPFields?,
        coversAuthorization: Bool
    ) -> [StoredResponse.Selector]? {
        let names = Set(FieldList.members(response[values: .vary]).map { $0.lowercased() })
        var selectors: [StoredResponse.Selector] = []
        for name in names.sorted() {
            let value = normalized(name, in: request)
            // A layer that asked for a coding and took it off again asks for the same next time.
            let isHandledBelow =
                name == "authorization" && coversAuthorization
                || name == "accept-encoding" && response[.contentEncoding] == nil
            let isSent = sent.map { normalized(name, in: $0) == value } ?? (value != nil)
            guard isSent || (value == nil && isHandledBelow) else { return nil }
            selectors.append(StoredResponse.Selector(name: name, value: value))
        }
        return selectors
    }

    /// Whether a stored response was selected by the same fields as this request has.
    static func matches(_ response: StoredResponse, _ request: HTTPFields) -> Bool {
        response.selectors.allSatisfy { selector in
            if normalized(selector.name, in: request) == selector.value { return true }
            return selector.name == "accept-language"
                && isPreferredLanguage(of: response.fields, in: request)
        }
    }

    /// Whether the response is in the one language that the request likes best.
    ///
    /// An origin that has this language would choose it for this request, and it has: this is it.
    private static func isPreferredLanguage(of fields: HTTPFields, in request: HTTPFields) -> Bool {
        let languages = FieldList.members(fields[values: .contentLanguage])
        guard languages.count == 1, let language = languages.first?.lowercased() else {
            return false
        }
        let wishes = FieldList.members(request[values: .acceptLanguage]).compactMap(Preference.init)
        guard let best = wishes.map(\.quality).max(), best > 0 else { return false }
        return wishes.filter { $0.quality == best }.map(\.item) == [language]
    }

    /// Returns a field in the form in which it is compared, nil if the request does not have it.
    ///
    /// Lines are combined, spaces at commas taken out, and members sorted where their order means
    /// nothing.
    private static func normalized(_ name: String, in request: HTTPFields) -> String? {
        guard let field = HTTPField.Name(name) else { return nil }
        let lines = request[values: field]
        guard !lines.isEmpty else { return nil }
        let members = FieldList.members(lines)
        guard negotiated.contains(name) else { return members.joined(separator: ",") }
        return members.map { Preference($0)?.canonical ?? $0 }.sorted().joined(separator: ",")
    }

    /// Fields whose members have weights, so that their order means nothing.
    private static let negotiated: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language",
    ]

    /// One member of a field of content negotiation (RFC 9110 section 12.4.2).
    private struct Preference {
        let item: String
        let parameters: [String]
        /// In thousandths.
        let quality: Int

        init?(_ member: String) {
            let parts = FieldList.split(member, at: UInt8(ascii: ";")).map(FieldList.trimmed)
            guard let first = parts.first, !first.isEmpty else { return nil }
            item = first.lowercased()
            var quality = 1000
            var parameters: [String] = []
            for part in parts.dropFirst() {
                if part.lowercased().hasPrefix("q=") {
                    guard let weight = Double(part.dropFirst(2)), (0...1).contains(weight) else {
                        return nil
                    }
                    quality = Int((weight * 1000).rounded())
                } else {
                    parameters.append(part)
                }
            }
            self.quality = quality
            self.parameters = parameters
        }

        var canonical: String {
            ([item] + parameters + (quality == 1000 ? [] : ["q=\(quality)"])).joined(separator: ";")
        }
    }
}
