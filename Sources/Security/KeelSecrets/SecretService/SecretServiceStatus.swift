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
            self.init(.cancelled, "The call to the Secret Service was canceled.", cause: status)
        case ("g-io-error-quark", 18):
            self.init(.unavailable, "The connection to the session bus was lost.", cause: status)
        case ("g-io-error-quark", 24), ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 20):
            self.init(.timeout, "The Secret Service did not answer.", cause: status)
        case (_, 2) where status.domain.hasPrefix("secret-error"):
            self.init(.locked, "The Secret Service's collection is locked.", cause: status)
        case (_, 3) where status.domain.hasPrefix("secret-error"),
            ("g-dbus-error-quark", 41):
            self.init(.noCollection, "The Secret Service has no collection.", cause: status)
        case _ where code == .noBus:
            self.init(.noBus, "No session bus is available.", cause: status)
        case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3):
            self.init(.unavailable, "No Secret Service is available on the bus.", cause: status)
        default:
            self.init(code, "The Secret Service rejected the call.", cause: status)
        }
    }
}
#endif
