#if os(Linux)
extension SecretStoreStatus {
    /// Whether the status is GLib's `G_IO_ERROR_CLOSED`: the bus has disappeared.
    var isClosedConnection: Bool { domain == "g-io-error-quark" && number == 18 }
}

extension SecretError {
    /// Creates the error for a status of libsecret, D-Bus or GLib.
    ///
    /// The status's text is omitted, because it might contain attributes.
    init(_ status: SecretStoreStatus, otherwise code: Code) {
        switch (status.domain, status.number) {
        case ("g-io-error-quark", 19):
            self.init(.cancelled, "The call of the Secret Service was cancelled.", cause: status)
        case ("g-io-error-quark", 18):
            self.init(.unavailable, "The session bus has gone away.", cause: status)
        case ("g-io-error-quark", 24), ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 20):
            self.init(.timeout, "The Secret Service did not answer.", cause: status)
        case (_, 2) where status.domain.hasPrefix("secret-error"):
            self.init(.locked, "The collection of the Secret Service is locked.", cause: status)
        case (_, 3) where status.domain.hasPrefix("secret-error"),
            ("g-dbus-error-quark", 41):
            self.init(.noCollection, "The Secret Service has no collection.", cause: status)
        case _ where code == .noBus:
            self.init(.noBus, "There is no session bus.", cause: status)
        case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3):
            self.init(.unavailable, "Nobody offers a Secret Service on the bus.", cause: status)
        default:
            self.init(code, "The Secret Service refused the call.", cause: status)
        }
    }
}
#endif
