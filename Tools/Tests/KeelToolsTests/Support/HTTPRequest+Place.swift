import HTTPTypes

extension HTTPRequest {
    /// Creates a request to a server on this machine.
    init(_ method: Method, to authority: String, _ path: String, _ fields: HTTPFields = [:]) {
        self.init(
            method: method,
            scheme: "http",
            authority: authority,
            path: path,
            headerFields: fields
        )
    }
}
