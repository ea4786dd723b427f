import moto.server
from werkzeug.serving import make_server

server = make_server("127.0.0.1", 0, moto.server.DomainDispatcherApplication(moto.server.create_backend_app), threaded=True)
print(server.port, flush=True)
server.serve_forever()
