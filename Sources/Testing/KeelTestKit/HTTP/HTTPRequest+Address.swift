package import HTTPTypes

extension HTTPRequest {
    /// Creates a request to an absolute address, such as `https://api.example.com/menu?page=2`.
    package init(_ address: String, _ method: Method = .get, _ fields: HTTPFields = [:]) {
        let scheme = address.prefix { $0 != ":" }
        let place = address.dropFirst(scheme.count + "://".count)
        let authority = place.prefix { $0 != "/" }
        self.init(
            method: method,
            scheme: String(scheme),
            authority: String(authority),
            path: String(place.dropFirst(authority.count)),
            headerFields: fields
        )
    }
}
