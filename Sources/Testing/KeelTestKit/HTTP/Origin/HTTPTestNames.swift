public import HTTPTypes

extension HTTPField.Name {
    /// The field that carries the method of a request in an echo.
    public static var echoMethod: Self { named("x-echo-method") }
    /// The field that carries the target of a request in an echo.
    public static var echoTarget: Self { named("x-echo-target") }

    private static func named(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("\(text) is a field name") }
        return name
    }
}
