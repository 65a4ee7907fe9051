public import HTTPTypes
public import KeelCore

/// A request as a curl command line, for trying it by hand or sharing it.
///
/// ```swift
/// print(CURLCommand(call))
/// // curl --header 'Accept: application/json' 'https://api.example.com/v1/menu?page=redacted'
/// ```
///
/// The text is for a POSIX shell and fully quoted: no part of a request can become a command. A body with bytes that a
/// command line cannot contain is piped from `printf`. A body that is left out is described in a comment.
public struct CURLCommand: Sendable, CustomStringConvertible {
    /// The layout of the command.
    public enum Style: Sendable, Hashable {
        /// All on one line.
        case singleLine
        /// One option per line.
        case multiline
    }

    private enum Content: Sendable {
        case none
        case bytes([UInt8])
        /// The description of a body that is left out.
        case omitted(String)
    }

    private let head: HTTPRequest
    private let content: Content

    /// The maximum size of a body in a command, in bytes; a larger one is left out.
    public static let bodyLimit = 32 * 1024

    /// Creates the command for a request with an absolute target.
    ///
    /// Without a redactor, it includes secrets. With one, a body that is not JSON, a form or text is left out.
    public init(_ head: HTTPRequest, body: [UInt8]? = nil, redactor: Redactor? = .standard) {
        self.head = redactor?.redact(head) ?? head
        let type = head.headerFields[.contentType]
        guard let body else {
            content = .none
            return
        }
        guard body.count <= Self.bodyLimit else {
            content = .omitted("\(body.count) bytes")
            return
        }
        guard let redactor else {
            content = .bytes(body)
            return
        }
        content =
            redactor.redactBody(body, contentType: type).map { .bytes($0) }
            ?? .omitted("\(body.count) bytes of unknown content")
    }

    /// Creates the command for a call; a body that is not in memory is left out.
    public init(_ call: HTTPCall, redactor: Redactor? = .standard) {
        guard let body = call.body, body.bytes == nil else {
            self.init(call.head, body: call.body?.bytes, redactor: redactor)
            return
        }
        self.init(redactor?.redact(call.head) ?? call.head, .omitted(body.description))
    }

    private init(_ head: HTTPRequest, _ content: Content) {
        self.head = head
        self.content = content
    }

    /// The command on one line.
    public var description: String { text(.singleLine) }

    /// Returns the command in a layout.
    public func text(_ style: Style) -> String {
        var options: [[String]] = []
        var pipe = ""
        var note = ""
        if head.method == .head {
            options.append(["--head"])
        } else if head.method != .get || hasBody {
            options.append(["--request", head.method.rawValue])
        }
        for field in head.headerFields.joiningCookies where field.name != .contentLength {
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            options.append(["--header", line])
        }
        switch content {
        case .none: break
        case .bytes(let bytes):
            // Without a type, curl would label any body a form.
            if head.headerFields[.contentType] == nil {
                options.append(["--header", "Content-Type:"])
            }
            if let text = ShellText.plain(bytes, allowsLines: style == .multiline) {
                options.append(["--data-raw", text])
            } else {
                pipe = "printf '%b' '\(ShellText.printfEscaped(bytes))' | "
                options.append(["--data-binary", "@-"])
            }
        case .omitted(let what): note = " # without its body: \(what)"
        }
        let target = "\(head.scheme ?? "http")://\(head.authority ?? "")\(head.path ?? "/")"
        if target.utf8.contains(where: { "[]{}".utf8.contains($0) }) {
            options.append(["--globoff"])
        }
        options.append([target])
        let separator = style == .singleLine ? " " : " \\\n  "
        let words = options.map { $0.map(ShellText.quoted).joined(separator: " ") }
        return pipe + (["curl"] + words).joined(separator: separator) + note
    }

    private var hasBody: Bool {
        if case .none = content { return false }
        return true
    }
}

enum ShellText {
    /// Returns the text as one word (POSIX.1-2024, Shell Command Language, 2.2.2).
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_./:,@%+".utf8.contains($0) }
        guard !isPlain else { return text }
        // By bytes: a quote and a combining mark are one character, and the shell sees a quote.
        let parts = text.utf8.split(
            separator: UInt8(ascii: "'"),
            omittingEmptySubsequences: false
        )
        return "'" + parts.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// Returns the bytes as text, or nil if a command line cannot contain them.
    static func plain(_ bytes: [UInt8], allowsLines: Bool) -> String? {
        let isPrintable = bytes.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7F || allowsLines && (byte == 0x0A || byte == 0x09)
        }
        guard isPrintable else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the bytes as a quoted argument of `printf '%b'`, with octal escapes of three digits.
    static func printfEscaped(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "'") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "\\0" + byte.digits(3, radix: 8)
            }
        }
        return text
    }
}
