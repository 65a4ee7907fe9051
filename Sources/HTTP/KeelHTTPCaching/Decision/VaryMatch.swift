import HTTPTypes

/// The matching of stored responses with requests (RFC 9111 section 4.1).
enum VaryMatch {
    /// Returns whether no later request can match the response.
    static func isNeverMatched(_ fields: HTTPFields) -> Bool {
        let members = FieldList.members(fields[values: .vary])
        return members.contains { $0 == "*" || HTTPField.Name($0) == nil }
    }

    /// Returns the request's values of the fields that the response varies by; nil if lower layers decided them, so
    /// that no later request can match the response.
    ///
    /// `request` has the fields at the cache, and `sent` those as sent, nil if unknown. With `coversAuthorization`, the
    /// response is stored only for the call's user; with `mayGetCookies`, a lower layer adds cookies once it has some.
    static func selectors(
        of response: HTTPFields,
        from request: HTTPFields,
        sent: HTTPFields?,
        coversAuthorization: Bool,
        mayGetCookies: Bool
    ) -> [StoredResponse.Selector]? {
        let names = Set(FieldList.members(response[values: .vary]).map { $0.lowercased() })
        var selectors: [StoredResponse.Selector] = []
        for name in names.sorted() {
            let value = normalized(name, in: request)
            if name == "cookie", value == nil, mayGetCookies { return nil }
            // A layer that requested a coding and decoded it will do the same next time.
            let isHandledBelow =
                name == "authorization" && coversAuthorization
                || name == "accept-encoding" && response[.contentEncoding] == nil
            let isSent = sent.map { normalized(name, in: $0) == value } ?? (value != nil)
            guard isSent || (value == nil && isHandledBelow) else { return nil }
            selectors.append(StoredResponse.Selector(name: name, value: value))
        }
        return selectors
    }

    /// Returns whether the request matches the fields that selected a stored response.
    static func matches(_ response: StoredResponse, _ request: HTTPFields) -> Bool {
        response.selectors.allSatisfy { selector in
            if normalized(selector.name, in: request) == selector.value { return true }
            return selector.name == "accept-language"
                && isPreferredLanguage(of: response.fields, in: request)
        }
    }

    /// Returns whether the response is in the request's single preferred language.
    ///
    /// The origin has this language, so it would choose this response.
    private static func isPreferredLanguage(of fields: HTTPFields, in request: HTTPFields) -> Bool {
        let languages = FieldList.members(fields[values: .contentLanguage])
        guard languages.count == 1, let language = languages.first?.lowercased() else {
            return false
        }
        let wishes = FieldList.members(request[values: .acceptLanguage]).compactMap(Preference.init)
        guard let best = wishes.map(\.quality).max(), best > 0 else { return false }
        return wishes.filter { $0.quality == best }.map(\.item) == [language]
    }

    /// Returns the normalized value of a field, or nil if the request does not have it.
    ///
    /// Lines are joined, spaces at commas removed, and members of unordered fields sorted. Cookies may contain commas.
    private static func normalized(_ name: String, in request: HTTPFields) -> String? {
        guard let field = HTTPField.Name(name) else { return nil }
        if field == .cookie { return request[.cookie] }
        let lines = request[values: field]
        guard !lines.isEmpty else { return nil }
        let members = FieldList.members(lines)
        guard negotiated.contains(name) else { return members.joined(separator: ",") }
        return members.map { Preference($0)?.canonical ?? $0 }.sorted().joined(separator: ",")
    }

    /// Fields whose members have weights, so that their order has no meaning.
    private static let negotiated: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language",
    ]

    /// A member of a content negotiation field (RFC 9110 section 12.4.2).
    private struct Preference {
        let item: String
        let parameters: [String]
        /// The weight in thousandths.
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
