package import HTTPTypes

extension HTTPCallOptions {
    private enum ReportsSentFieldsKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the reply reports the header fields of the request as it was sent.
    ///
    /// Set by a layer that must know what the layers below it add.
    package var reportsSentFields: Bool {
        get { self[ReportsSentFieldsKey.self] }
        set { self[ReportsSentFieldsKey.self] = newValue }
    }
}

extension HTTPReplyNotes {
    private enum SentFieldsKey: HTTPReplyNoteKey {
        static var defaultValue: HTTPFields? { nil }
    }

    /// The request's fields as the transport received them; nil if they were not requested, or if a layer answered the
    /// call itself.
    package var sentFields: HTTPFields? {
        get { self[SentFieldsKey.self] }
        set { self[SentFieldsKey.self] = newValue }
    }
}
