/// The passwords in URLs, which no output may contain.
package enum Passwords {
    /// Returns a text with `…` in place of the passwords of URLs, also of the parameters `password` and `sslpassword`.
    ///
    /// The password of a PostgreSQL URL ends at the last `@` of the line, even if it should have been percent-encoded.
    /// Hiding a text twice changes nothing.
    package static func hidden(in text: String) -> String {
        guard text.contains("://") else { return text }
        return
            text
            .replacing(/(?i)\b(postgre[a-z]*:\/\/[^:@\/\n]*):[^\n]*@/) { "\($0.output.1):…@" }
            .replacing(/(?i)\b([a-z][a-z0-9+.\-]*:\/\/[^\s:@\/]*):[^\s@\/]*@/) {
                "\($0.output.1):…@"
            }
            .replacing(/(?i)([?&](?:ssl)?password=)[^&\s'"’”]*/) { "\($0.output.1)…" }
    }

    /// Whether a text contains a URL with a password.
    package static func isContained(in text: String) -> Bool { hidden(in: text) != text }
}
