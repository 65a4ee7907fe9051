extension Redactor {
    /// Returns a URL as it may be written down.
    ///
    /// User information and the fragment, in which some services put tokens, go; of the query goes
    /// what ``query`` says; what is known by its form goes out of the path. Text that is no URL is
    /// treated in the same way and never fails.
    public func redactURL(_ url: String) -> String {
        let whole = url.prefix { $0 != "#" }
        let target = whole.prefix { $0 != "?" }
        var result = String(target)
        if let start = target.firstRange(of: "://")?.upperBound {
            let authority = target[start...].prefix { $0 != "/" }
            let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
            let path = target[authority.endIndex...]
            // The host says where a request went; it is kept even where it is a bare address.
            result = target[..<start] + (host ?? authority) + redactPath(path)
        } else {
            result = redactPath(target)
        }
        guard target.endIndex != whole.endIndex, query != .whole else { return result }
        let items = whole[whole.index(after: target.endIndex)...]
        return result + "?" + redactQuery(items)
    }

    private func redactPath(_ path: Substring) -> String {
        guard !path.isEmpty else { return "" }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { redactPlain(Array($0.utf8)) ?? String($0) }
            .joined(separator: "/")
    }

    /// Returns the text with its secrets marked as a URL may hold them, or nil if it has none.
    private func redactPlain(_ bytes: [UInt8]) -> String? {
        var inURL = self
        let marker = marker
        inURL.marker = .computed { marker.urlReplacement(for: $0) }
        if let redacted = inURL.redacted(bytes) { return String(decoding: redacted, as: UTF8.self) }
        // What is hidden by percent-encoding is seen in the decoded text alone.
        guard let decoded = FormText.decode(bytes), redacted(decoded) != nil else { return nil }
        return marker.urlReplacement(for: bytes)
    }

    /// Returns the names and the values of a query, or of a form (`application/x-www-form-urlencoded`).
    private func redactQuery(_ items: Substring) -> String {
        items.split(separator: "&", omittingEmptySubsequences: false)
            .map { redactItem($0, shows: isShown) }
            .joined(separator: "&")
    }

    private func isShown(_ name: Substring) -> Bool {
        guard case .all(let exceptions) = query else { return true }
        let decoded = FormText.decode(Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
        return exceptions.contains(decoded ?? String(name))
    }

    /// Returns a form with its sensitive values replaced, whatever ``query`` says of URLs.
    public func redactForm(_ form: String) -> String {
        form.split(separator: "&", omittingEmptySubsequences: false)
            .map { redactItem($0) { _ in true } }
            .joined(separator: "&")
    }

    private func redactItem(_ item: Substring, shows: (Substring) -> Bool) -> String {
        let name = item.prefix { $0 != "=" }
        let shownName = redactPlain(Array(name.utf8)) ?? String(name)
        guard name.endIndex != item.endIndex else {
            // A lone word may be a token: `?4f2a…` is how some services sign their addresses.
            let isHidden = !item.isEmpty && !shows(name)
            return isHidden ? marker.urlReplacement(for: item.utf8) : shownName
        }
        let value = Array(item[item.index(after: name.endIndex)...].utf8)
        guard !value.isEmpty else { return shownName + "=" }
        if isSensitive(name) || !shows(name) {
            return shownName + "=" + marker.urlReplacement(for: value)
        }
        return shownName + "=" + (redactPlain(value) ?? String(decoding: value, as: UTF8.self))
    }
}

/// The encoding of forms: percent triplets, and a plus sign for a space.
enum FormText {
    /// The decoded bytes, or nil if nothing is encoded.
    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return nil
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index] == UInt8(ascii: "+") ? 0x20 : bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
