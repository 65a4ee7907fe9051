extension Redactor {
    /// Returns a URL that is safe to write.
    ///
    /// User information is removed, as is the fragment, which some services use for tokens. The host is kept, even if
    /// it is an IP address. The query is redacted according to ``query``, and the path like other text. Text that is
    /// not a URL is treated the same way.
    public func redactURL(_ url: String) -> String {
        var bytes = Array(url.utf8)
        if let information = Self.userInformation(of: bytes) {
            bytes.removeSubrange(information.lowerBound...information.upperBound)
        }
        let whole = bytes.prefix { $0 != UInt8(ascii: "#") }
        let target = whole.prefix { $0 != UInt8(ascii: "?") }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var pathStart = target.startIndex
        if let start = Self.authorityStart(in: target) {
            let authority = target[start...].prefix { $0 != UInt8(ascii: "/") }
            let sign = authority.lastIndex(of: UInt8(ascii: "@"))
            result += target[..<start]
            // The host shows where a request went, so it is kept even if it is an IP address.
            result += sign.map { authority[($0 + 1)...] } ?? authority
            pathStart = authority.endIndex
        }
        appendPath(target[pathStart...], to: &result)
        if target.count < whole.count, query != .whole {
            result.append(UInt8(ascii: "?"))
            appendItems(whole[(target.endIndex + 1)...], to: &result, shows: isShown)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a form with its sensitive values replaced, regardless of ``query``.
    public func redactForm(_ form: String) -> String {
        var result: [UInt8] = []
        appendItems(Array(form.utf8)[...], to: &result) { _ in true }
        return String(decoding: result, as: UTF8.self)
    }

    private static func userInformation(of url: [UInt8]) -> Range<Int>? {
        let beginning = url.prefix { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "?") }
        guard let start = authorityStart(in: beginning) else { return nil }
        return url.withUnsafeBufferPointer { bytes in
            SecretScanner(bytes, patterns: .credentials).userInformation(after: start - 3)
        }
    }

    private static func authorityStart(in target: ArraySlice<UInt8>) -> Int? {
        guard let colon = target.firstIndex(of: UInt8(ascii: ":")), colon + 2 < target.endIndex,
            target[colon + 1] == UInt8(ascii: "/"), target[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        return colon + 3
    }

    private func appendPath(_ path: ArraySlice<UInt8>, to result: inout [UInt8]) {
        // Nearly all paths contain nothing sensitive, and a slash ends every known secret.
        guard path.contains(UInt8(ascii: "%")) || redacted(Array(path)) != nil else {
            result += path
            return
        }
        for (number, segment) in path.split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        ).enumerated() {
            if number > 0 { result.append(UInt8(ascii: "/")) }
            result += redactPlain(segment) ?? segment
        }
    }

    private func redactPlain(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let bytes = Array(bytes)
        if redacted(bytes) != nil {
            var inURL = self
            let marker = marker
            inURL.marker = .computed { marker.urlReplacement(for: $0) }
            return inURL.redacted(bytes)?[...]
        }
        // Secrets hidden by percent-encoding are visible only in the decoded text.
        guard let decoded = FormText.decode(bytes), redacted(decoded) != nil else { return nil }
        return marked(bytes[...])
    }

    private func marked(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Array(marker.urlReplacement(for: bytes).utf8)[...]
    }

    private func isShown(_ name: ArraySlice<UInt8>) -> Bool {
        guard case .all(let exceptions) = query else { return true }
        guard !exceptions.isEmpty else { return false }
        let decoded = FormText.decode(Array(name)) ?? Array(name)
        return exceptions.contains(String(decoding: decoded, as: UTF8.self))
    }

    private func appendItems(
        _ items: ArraySlice<UInt8>,
        to result: inout [UInt8],
        shows: (ArraySlice<UInt8>) -> Bool
    ) {
        for (number, item) in items.split(
            separator: UInt8(ascii: "&"),
            omittingEmptySubsequences: false
        ).enumerated() {
            if number > 0 { result.append(UInt8(ascii: "&")) }
            appendItem(item, to: &result, shows: shows)
        }
    }

    private func appendItem(
        _ item: ArraySlice<UInt8>,
        to result: inout [UInt8],
        shows: (ArraySlice<UInt8>) -> Bool
    ) {
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        let isShown = shows(name)
        guard name.count < item.count else {
            // A lone word may be a token: some services sign addresses with `?4f2a…`.
            result += !item.isEmpty && !isShown ? marked(item) : redactPlain(name) ?? name
            return
        }
        result += redactPlain(name) ?? name
        result.append(UInt8(ascii: "="))
        let value = item[(name.endIndex + 1)...]
        guard !value.isEmpty else { return }
        if !isShown || names.contains(utf8: name) {
            result += marked(value)
        } else {
            result += redactPlain(value) ?? value
        }
    }
}

enum FormText {
    /// Returns the decoded bytes, or nil if nothing is encoded.
    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return nil
        }
        return PercentEncoding.decode(bytes, plusIsSpace: true)
    }
}
