import KeelURITemplates

print(try URITemplate("/users/{id}").expanded(["id": "7"]))
